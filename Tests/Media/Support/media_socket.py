"""A WebSocket of an engine that has only a vendor key: `media_hello`, media calls, media events."""

import asyncio
import itertools
import json
import time
from dataclasses import dataclass

from answers import Reply
from apps import App
from secrecy import SPOKEN
from waiting import PATIENCE_SECONDS, eventually
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

ANSWER_SECONDS = 10


class MediaRefused(Exception):
    """A media call, or a hello, that was answered by an error."""

    def __init__(self, function: str, error: str, data: dict):
        super().__init__(f"{function}: {error} {data}")
        self.reason = error
        self.code = data.get("code")


@dataclass(frozen=True)
class MediaEvent:
    """`["notify", ["media", {...}]]`."""

    type: str
    n: int | None
    fields: dict

    def __getitem__(self, name: str) -> object:
        return self.fields[name]


class MediaSocket:
    """One connection; `close()` raises for what no correct server sends."""

    def __init__(self, app: App):
        self.app = app
        self.line = ""
        self.events: list[MediaEvent] = []
        self.violations: list[str] = []
        self.closed = asyncio.Event()
        self._ids = itertools.count(0)
        self._calls: dict[int, asyncio.Future] = {}
        self._hello: asyncio.Future | None = None
        self._reader: asyncio.Task | None = None
        self._socket: ClientConnection | None = None

    async def open(self, url: str) -> "MediaSocket":
        """Connects and says hello; raises MediaRefused."""
        self._socket = await connect(url, proxy=None, compression=None, ping_interval=None, max_size=None, open_timeout=20)
        self._reader = asyncio.create_task(self._read())
        self._hello = asyncio.get_running_loop().create_future()
        await self.send("media_hello", {"vid": self.app.id, "device": "test", "sdk": "python"})
        error, text = await asyncio.wait_for(self._hello, ANSWER_SECONDS)
        data = json.loads(text)
        if error:
            self._check_error(error, data)
            raise MediaRefused("media_hello", error, data)
        assert data["result"] == "ok" and isinstance(data["line"], str) and data["line"], data.keys()
        self.line = data["line"]
        SPOKEN.line(self.line)
        return self

    def forgive(self) -> None:
        """For a test that has failed already: `close` raises nothing."""
        self.violations = []

    async def close(self) -> None:
        """Closes the socket; raises for what the server did wrong."""
        if self._socket is not None:
            await self._socket.close()
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        assert not self.violations, f"media socket: {self.violations}"

    async def send(self, name: str, argument: object) -> None:
        await self._socket.send(json.dumps([name, argument]))

    async def send_text(self, text: str) -> None:
        """Sends a frame that may be none."""
        await self._socket.send(text)

    @property
    def close_code(self) -> int | None:
        """What the socket was closed with."""
        return self._socket.close_code

    async def attempt(self, function: str, **arguments: object) -> Reply:
        """Calls, and returns the answer, good or bad."""
        number = next(self._ids)
        answer = self._calls[number] = asyncio.get_running_loop().create_future()
        SPOKEN.media(arguments)
        started = time.monotonic()
        await self.send("call2", [function, number, {"line": self.line, **arguments}])
        try:
            error, text = await asyncio.wait_for(answer, ANSWER_SECONDS)
        except TimeoutError:
            raise AssertionError(f"{function} unanswered after {ANSWER_SECONDS} s") from None
        data = json.loads(text)
        SPOKEN.media(data)
        if error:
            self._check_error(error, data)
        elif data.get("result") != "ok":
            self.violations.append(f"{function}: no error, and the result {data.get('result')!r}")
        return Reply(error, data, time.monotonic() - started)

    async def call(self, function: str, **arguments: object) -> dict:
        """Calls, and returns the data of a good answer; raises MediaRefused."""
        reply = await self.attempt(function, **arguments)
        if not reply.ok:
            raise MediaRefused(function, reply.error, reply.data)
        return reply.data

    async def refused(self, reason: str, code: int, function: str, **arguments: object) -> None:
        """Calls, and expects this error; the socket goes on."""
        reply = await self.attempt(function, **arguments)
        assert (reply.error, reply.data.get("code")) == (reason, code), f"{function}: {reply.error} {reply.data}"
        assert not self.closed.is_set()

    async def event(self, kind: str, seconds: float = PATIENCE_SECONDS, **fields: object) -> MediaEvent:
        """Waits for the first event of that kind with these fields."""

        def found() -> list[MediaEvent]:
            return [event for event in self.events if event.type == kind and fields.items() <= event.fields.items()]

        await eventually(found, f"an event {kind} with {fields}; came: {self.events}", seconds)
        return found()[0]

    def _check_error(self, error: str, data: dict) -> None:
        good = data.get("result") == "failed" and data.get("reason") == error and type(data.get("code")) is int \
            and isinstance(data.get("message"), str) and data["message"]
        if not good:
            self.violations.append(f"an error {error!r} that says {data}")

    async def _read(self) -> None:
        try:
            async for payload in self._socket:
                self._frame(json.loads(payload))
        except ConnectionClosed:
            pass
        except (ValueError, KeyError, IndexError, TypeError) as error:
            self.violations.append(f"a frame that can't be read: {error!r}")
        finally:
            self.closed.set()
            lost = ConnectionError(f"closed with {self._socket.close_code}")
            for future in [*self._calls.values(), *([self._hello] if self._hello else [])]:
                if not future.done():
                    future.set_exception(lost)
                    future.exception()

    def _frame(self, frame: list) -> None:
        name, argument = frame
        if name == "call2-ret":
            number, error, text = argument
            if number in self._calls:
                self._calls.pop(number).set_result((error, text))
            elif not error:
                self.violations.append(f"a good answer to call {number}, which was not made")
        elif name == "media_hello_ret":
            self._hello.set_result(argument)
        elif name == "notify" and argument[0] == "media":
            fields = argument[1]
            self.events.append(MediaEvent(fields["t"], fields.get("n"), fields))
        elif name != "close":
            self.violations.append(f"a frame {name!r}")
