"""Serves the client and the tests' page on loopback, with discovery as the test wants it."""

import http.server
import json
import ssl
import threading
from pathlib import Path

from web import fetch

HERE = Path(__file__).resolve().parent
CLIENT = HERE.parents[1] / "Clients" / "web"

MODULE = '<script type="module">import { Signal } from "/heliograph.js"; window.Signal = Signal; window.isReady = true' \
    "</script>"
CLASSIC = '<script src="/heliograph.classic.js"></script><script>window.isReady = true</script>'
FILES = {
    "/heliograph.js": CLIENT / "heliograph.js",
    "/heliograph.classic.js": CLIENT / "heliograph.classic.js",
    "/recorder.js": HERE / "recorder.js",
}


class Site:
    """`/module` and `/classic` are pages; `/getaddr` answers with the gateways of the cluster's discovery.

    A discovery URL whose path is a list of ports, such as `/21796,21798`, answers with these gateways only.
    """

    def __init__(self, certificate: Path | None = None):
        self.discovery = ""
        """The HTTP address of a gateway, which answers `/getaddr`."""
        self.only: list[str] | None = None
        """The WebSocket addresses that `/getaddr` answers with instead."""
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site._answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, request: http.server.BaseHTTPRequestHandler) -> None:
        path, _, query = request.path.partition("?")
        kind = "text/html"
        if path in ("/module", "/classic"):
            script = MODULE if path == "/module" else CLASSIC
            body = f'<!DOCTYPE html><link rel="icon" href="data:,"><script src="/recorder.js"></script>{script}'.encode()
        elif path in FILES:
            kind, body = "text/javascript", FILES[path].read_bytes()
        elif path == "/getaddr":
            kind = "application/json"
            try:
                body = self._tell(self.only) if self.only else self._discover(query)
            except OSError as error:
                return request.send_error(502, str(error))
        elif path.endswith("/getaddr"):
            kind, body = "application/json", self._tell(path.split("/")[1].split(","))
        else:
            return request.send_error(404)
        request.send_response(200)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def _tell(self, gateways: list[str]) -> bytes:
        return json.dumps({"web": [["127.0.0.1", int(gateway.rsplit(":", 1)[-1])] for gateway in gateways] * 4}).encode()

    def _discover(self, query: str) -> bytes:
        with fetch(f"{self.discovery}/getaddr?{query}") as answer:
            return answer.read()
