"""A receiver of webhooks: a real HTTP server that checks the signatures, and fails in the ways that receivers fail."""

import hashlib
import hmac
import json
import re
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SECRET = "whsec-of-the-tests-0123456789"
# Within which time of the receiver's clock a signature is made.
SIGNED_WITHIN_SECONDS = 30
# A hanging request ends with the receiver at the latest.
HANG_SECONDS = 60
LARGE_ANSWER = 8 << 20


class Receiver:
    """Takes events while it is `ok`; `with Receiver() as receiver:`."""

    MODES = ("503", "hang", "half", "redirect", "reset", "garbage")

    def __init__(
            self, certificate: Path | None = None, secret: str = SECRET, host: str = "127.0.0.1",
            newest_tls: ssl.TLSVersion | None = None):
        """
        :param host: the address to listen on
        :param newest_tls: newer versions are not spoken; by default all that are still allowed
        """
        self.secret = secret
        self.mode = "ok"
        self.answers_after_seconds = 0.0
        """How long a request takes that succeeds."""
        self.requests: list[list[dict]] = []
        """The events of each request that was taken."""
        self.attempts = 0
        self.connections = 0
        self.redirected = 0
        self.signatures: list[int] = []
        """How many signatures each of these requests had."""
        self.problems: list[str] = []
        self.released = threading.Event()
        self._lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                receiver.connections += 1
                super().setup()

            def do_POST(self) -> None:
                receiver._request(self)

            def do_GET(self) -> None:
                receiver.redirected += 1
                receiver._answer(self, 200)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: object, client_address: object) -> None:
                pass

        self._server = Server((host, 0), Handler)
        self.scheme = "http"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            if newest_tls is not None:
                # OpenSSL speaks versions before 1.2 at its lowest level of security only.
                context.set_ciphers("DEFAULT:@SECLEVEL=0")
                context.minimum_version = context.maximum_version = newest_tls
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
            self.scheme = "https"
        self.port = self._server.server_address[1]

    def url(self, host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}/hooks?from=test"

    def __enter__(self) -> "Receiver":
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    # What came in

    @property
    def events(self) -> list[dict]:
        """All events that were taken, in the order of arrival; repetitions too."""
        with self._lock:
            return [event for request in self.requests for event in request]

    def of(self, *kinds: str, **members: object) -> list[dict]:
        """The events of these kinds with these members."""
        return [event for event in self.events
                if event["kind"] in kinds and all(event.get(name) == value for name, value in members.items())]

    def story(self, account: str) -> list[str]:
        """The kinds of the events about a user, each once, in the order of their first arrival."""
        seen: dict[str, str] = {}
        for event in self.events:
            if event.get("account") == account:
                seen.setdefault(event["id"], event["kind"])
        return list(seen.values())

    def check(self) -> None:
        """Nothing was wrong with any request, and each event came in order."""
        assert not self.problems, self.problems
        seen: set[str] = set()
        last = 0
        for event in self.events:
            if event["id"] in seen:
                continue
            seen.add(event["id"])
            assert event["at"] >= last, f"{event} came after a later one"
            last = event["at"]

    # Inside

    def _request(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        with self._lock:
            self.attempts += 1
            mode = self.mode
        if mode != "ok" and mode != "large":
            self._fail(handler, mode)
            return
        try:
            signatures = self._verify(handler, body)
            events = json.loads(body)["events"]
        except (AssertionError, ValueError, KeyError) as error:
            self.problems.append(repr(error))
            self._answer(handler, 400)
            return
        with self._lock:
            self.requests.append(events)
            self.signatures.append(signatures)
        # Nothing waits for it: a receiver that is slow.
        self.released.wait(self.answers_after_seconds)
        self._answer(handler, 200, LARGE_ANSWER if mode == "large" else 2)

    def _verify(self, handler: BaseHTTPRequestHandler, body: bytes) -> int:
        """The number of signatures; one of them is by the secret."""
        signature = re.fullmatch(r"t=(\d+)((?:,v1=[0-9a-f]{64}){1,2})", handler.headers["Heliograph-Signature"])
        assert signature, "the signature has another form"
        wanted = hmac.new(self.secret.encode(), signature[1].encode() + b"." + body, hashlib.sha256).hexdigest()
        given = signature[2].split(",v1=")[1:]
        assert any(hmac.compare_digest(wanted, one) for one in given), "the signature is of something else"
        assert abs(time.time() - int(signature[1])) < SIGNED_WITHIN_SECONDS, "the signature is old"
        assert handler.headers["Content-Type"] == "application/json"
        assert handler.headers["Host"].endswith(f":{self.port}")
        return len(given)

    def _fail(self, handler: BaseHTTPRequestHandler, mode: str) -> None:
        handler.close_connection = True
        fail: dict[str, Callable[[], None]] = {
            "503": lambda: self._answer(handler, 503),
            "hang": lambda: self.released.wait(HANG_SECONDS) and None,
            "half": lambda: self._half(handler),
            "redirect": lambda: self._redirect(handler),
            "reset": lambda: self._reset(handler),
            "garbage": lambda: handler.wfile.write(b"\x00\x01 this is no HTTP\r\n\r\n") and None,
        }
        fail[mode]()

    def _answer(self, handler: BaseHTTPRequestHandler, status: int, size: int = 2) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(size))
        handler.end_headers()
        handler.wfile.write(b"o" * size)

    def _half(self, handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 20")
        self.released.wait(HANG_SECONDS)

    def _redirect(self, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", self.url())
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    def _reset(self, handler: BaseHTTPRequestHandler) -> None:
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()
