"""Both clients for servers behind one interface, with the names of Docs/openapi.json, so that each test is for both."""

import base64
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from heliograph_server import HeliographError, HeliographServer, is_genuine

DRIVER = Path(__file__).resolve().parent / "driver.mjs"
ATTEMPTS = 4
SECONDS = 5


class Refused(Exception):
    """A request that the client gave up."""

    def __init__(self, error: dict):
        super().__init__(str(error))
        self.error = error


def snake(name: str) -> str:
    """`sendMessage` as `send_message`, and a word of Python's own as `from_`."""
    return "from_" if name == "from" else re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


class PythonClient:
    def __init__(self, key: str, *urls: str):
        self.server = HeliographServer(urls, key, timeout=SECONDS, attempts=ATTEMPTS)

    def _do(self, act: Callable, *values: object, **options: object) -> object:
        try:
            return act(*values, **{snake(name): value for name, value in options.items()})
        except HeliographError as error:
            raise Refused({"status": error.status, "code": error.code, "field": error.field, "bound": error.bound,
                           "retryAfter": error.retry_after, "requestId": error.request_id, "text": str(error)}) from error

    def call(self, operation: str, *names: str, **options: object) -> object:
        return self._do(getattr(self.server, snake(operation)), *names, **options)

    def each(self, operation: str, *names: str, **options: object) -> list[dict]:
        return self._do(lambda *values, **more: list(self.server.each(getattr(self.server, snake(operation)), *values, **more)), *names, **options)

    def follow(self, app: str, count: int, **options: object) -> list[dict]:
        def told(**more: object) -> list[dict]:
            found = []
            with self.server.follow_events(app, **more) as stream:
                for event in stream:
                    found.append({"id": event.id, "event": event.event, "data": event.data})
                    # The loop must end by itself.
                    if len(found) == count:
                        stream.close()
            return found

        return self._do(told, **options)

    def genuine(self, header: str, body: bytes, secret: str) -> bool:
        return is_genuine(header, body, secret)

    def close(self) -> None:
        pass


class NodeClient:
    def __init__(self, key: str, *urls: str):
        self._process = subprocess.Popen(["node", str(DRIVER), key, *urls], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def _do(self, *act: object) -> object:
        self._process.stdin.write(json.dumps(act) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the driver has ended"
        outcome = json.loads(line)
        if "error" in outcome:
            raise Refused(outcome["error"])
        return outcome.get("result")

    def call(self, operation: str, *names: str, **options: object) -> object:
        return self._do("call", operation, *names, *([options] if options else []))

    def each(self, operation: str, *names: str, **options: object) -> list[dict]:
        return self._do("each", operation, *names, options)

    def follow(self, app: str, count: int, **options: object) -> list[dict]:
        return self._do("follow", app, count, options)

    def genuine(self, header: str, body: bytes, secret: str) -> bool:
        return self._do("genuine", header, base64.b64encode(body).decode(), secret)

    def close(self) -> None:
        self._process.stdin.close()
        try:
            self._process.wait(10)
        finally:
            self._process.kill()


KINDS = {"python": PythonClient, "node": NodeClient}
