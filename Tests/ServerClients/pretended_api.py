"""A server that answers what a test tells it, and remembers what it was asked: for refusals that a cluster makes seldom."""

import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote


@dataclass
class Asked:
    method: str
    path: list[str]
    """Its segments after `/v1/`, decoded."""
    query: dict[str, str]
    headers: dict[str, str]
    body: object


@dataclass
class Reply:
    status: int = 200
    body: object = None
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "application/json"


BROKEN = object()
"""Instead of a reply: the connection is closed."""


def problem(status: int, code: str, *, retry_after: int | None = None, **more: str) -> Reply:
    headers = () if retry_after is None else (("Retry-After", str(retry_after)),)
    body = {"type": f"/v1/errors/{code}", "title": "t", "status": status, "code": code, "detail": "d"} | more
    return Reply(status, body, headers, "application/problem+json")


class PretendedAPI:
    """`with PretendedAPI() as api:`; what is in `replies` is answered, one after the other, and the last one again and again."""

    def __init__(self):
        self.replies: list = [Reply(body={})]
        self.asked: list[Asked] = []
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                api._answer(self)

            do_GET = do_POST = do_PUT = do_DELETE = answer

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        content = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        path, _, query = request.path.partition("?")
        segments = [unquote(part) for part in path.removeprefix("/v1/").split("/")]
        self.asked.append(Asked(
            request.command, segments, dict(parse_qsl(query, keep_blank_values=True)), dict(request.headers.items()),
            json.loads(content) if content else None))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if reply is BROKEN:
            request.close_connection = True
            return
        data = reply.body.encode() if isinstance(reply.body, str) else json.dumps(reply.body).encode()
        request.send_response(reply.status)
        for name, value in (("Content-Type", reply.content_type), ("Content-Length", str(len(data))), *reply.headers):
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(data)

    def __enter__(self) -> "PretendedAPI":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
