"""An app's server that answers before-hooks: a real HTTP server that checks the signatures, and fails in the ways that servers fail."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

from webhook_receiver import HANG_SECONDS, Receiver

ALLOW, DENY = {"answer": "allow"}, {"answer": "deny"}


class HookServer(Receiver):
    """Answers by `decide` while it is `ok`; `with HookServer() as server:`."""

    # Those of receivers, and valid HTTP with other bodies than answers.
    MODES = (*Receiver.MODES, "large", "words", "unfinished")

    def __init__(self, *arguments: object, **named: object):
        super().__init__(*arguments, **named)
        self.questions: list[dict] = []
        """The questions that were asked, in the order of arrival."""
        self.decide: Callable[[dict], dict] = lambda question: ALLOW
        self.held: set[str] = set()
        """Texts of messages whose questions are not answered before `release`."""
        self.release = threading.Event()

    def __exit__(self, *arguments: object) -> None:
        self.release.set()
        super().__exit__(*arguments)

    def asked(self, kind: str) -> list[dict]:
        return [question for question in self.questions if question["hook"] == kind]

    def _request(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        with self._lock:
            self.attempts += 1
            mode = self.mode
        if mode in Receiver.MODES:
            return self._fail(handler, mode)
        try:
            self._verify(handler, body)
            question = json.loads(body)
        except (AssertionError, ValueError, KeyError) as error:
            self.problems.append(repr(error))
            return self._answer(handler, 400)
        with self._lock:
            self.questions.append(question)
        if question.get("text") in self.held:
            self.release.wait(HANG_SECONDS)
        answers = {
            "ok": lambda: json.dumps(self.decide(question)).encode(),
            "large": lambda: json.dumps(ALLOW | {"x": "x" * 100_000}).encode(),
            "words": lambda: b"<html>welcome</html>",
            "unfinished": lambda: json.dumps(ALLOW).encode(),
        }
        self._write(handler, answers[mode](), missing=7 if mode == "unfinished" else 0)

    def _write(self, handler: BaseHTTPRequestHandler, body: bytes, missing: int) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body) + missing))
        handler.end_headers()
        handler.wfile.write(body)
        if missing:
            handler.close_connection = True
