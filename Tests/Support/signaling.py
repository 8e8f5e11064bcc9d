"""A small asyncio client that speaks the wire protocol as the real ones do, and reports everything that a correct server never sends.

It polls its mailbox like the web and Python SDKs: once after login, once per `notify msg`, and it ignores a notify that
arrives while a poll is outstanding, as they all do. What no correct server sends is collected in `violations`, and
`close()` raises for it.
"""

import asyncio
import itertools
import json
import time

from answers import CallFailed, Event, LoginRefused, Message, Reply
from apps import App
from secrecy import SPOKEN
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

ANSWER_SECONDS = 10
# The entries that a poll asks for at most.
PAGE = 30


class Client:
    """One user's connection."""

    def __init__(self, app: App, account: str, *, token: str | None = None, polls: bool = True):
        self.app = app
        self.account = account
        self.token = app.token(account) if token is None else token
        SPOKEN.token(self.token)
        SPOKEN.name(account)
        self.polls = polls
        self.line = ""
        self.uid = 0
        self.messages: list[Message] = []
        self.events: list[Event] = []
        self.violations: list[str] = []
        self.other_frames: list[list] = []
        # Every frame that came, in the order of arrival.
        self.frames: list[list] = []
        self.close_frame: object = None
        self.close_code: int | None = None
        self.closed = asyncio.Event()
        self.version = 0
        """The version of the last mailbox entry."""
        self.channel_mark = 0
        """The id of the last channel event."""
        self._ids = itertools.count(0)
        # None: a poll, which has no waiter.
        self._calls: dict[int, asyncio.Future | None] = {}
        self._answers: dict[str, asyncio.Future] = {}
        self._polling = False
        self._reader: asyncio.Task | None = None
        self._socket: ClientConnection | None = None

    # Connection

    async def connect(self, url: str) -> "Client":
        """Opens a WebSocket; no proxy, no compression, no WebSocket pings, like the old clients."""
        self._socket = await connect(url, proxy=None, compression=None, ping_interval=None, max_size=None, open_timeout=20)
        self.closed.clear()
        self.close_code = None
        self._reader = asyncio.create_task(self._read(self._socket))
        return self

    async def login(self, url: str, **more: object) -> "Client":
        """Connects and logs in; raises LoginRefused. `more` are further members of the login frame."""
        await self.connect(url)
        await self.send("login", {
            "vid": self.app.id, "account": self.account, "uid": 0, "token": self.token, "device": "websdk", "ip": "", **more})
        error, text = await self._answer("login_ret")
        data = json.loads(text)
        if error != "" or data.get("result") != "ok":
            raise LoginRefused(error, data)
        return self

    async def resume(self, url: str, **more: object) -> dict:
        """Resumes the session over a new socket, as the web SDK does, which does not poll by itself then."""
        await self._drop_reader()
        self._polling = False
        self._calls.clear()
        await self.connect(url)
        await self.send("line_login", {"line": self.line, **more})
        error, text = await self._answer("line_login_ret")
        self._expect(error == "", f"line_login_ret has the error {error!r}")
        return json.loads(text)

    async def logout(self) -> None:
        """Logs out; the server answers, then closes."""
        await self.call("user_logout")
        await asyncio.wait_for(self.closed.wait(), ANSWER_SECONDS)

    def abort(self) -> None:
        """Drops the connection without a close frame, as a failing network does."""
        self._socket.transport.abort()

    async def close(self) -> None:
        """Closes the socket; raises for what the server did wrong."""
        if self._socket is not None:
            await self._socket.close()
        await self._drop_reader()
        assert not self.violations, f"{self.account}: {self.violations}"

    # Requests

    async def send(self, name: str, argument: object) -> None:
        if name == "call2":
            SPOKEN.call(argument[2])
        await self.send_raw(json.dumps([name, argument]))

    async def send_raw(self, payload: str | bytes, text: bool | None = None) -> None:
        """Sends one frame unchanged; `text` says whether it is a text frame, by default by the payload's type."""
        await self._socket.send(payload, text=text)

    def expect_answer(self, number: int) -> asyncio.Future:
        """For calls that were sent raw: a future for the answer (err, data) to the call of that number."""
        self._calls[number] = asyncio.get_running_loop().create_future()
        return self._calls[number]

    async def attempt(self, function: str, *, within: float = ANSWER_SECONDS, line: str | None = None, **args) -> Reply:
        """Calls, and returns the answer, good or bad."""
        number = next(self._ids)
        answer = self.expect_answer(number)
        started = time.monotonic()
        await self.send("call2", [function, number, {"line": self.line if line is None else line, **args}])
        try:
            error, data = await asyncio.wait_for(answer, within)
        except TimeoutError:
            raise AssertionError(f"{self.account}: {function} unanswered after {within} s") from None
        return Reply(error, data, time.monotonic() - started)

    async def call(self, function: str, **args) -> dict:
        """Calls, and returns the data of a good answer; raises CallFailed."""
        reply = await self.attempt(function, **args)
        if not reply.ok:
            raise CallFailed(function, reply.error, reply.data)
        return reply.data

    async def ping(self, number: int = 1) -> object:
        await self.send("ping", number)
        return await self._answer("pong")

    async def tell(self, peer: str, content: object) -> None:
        """An instant message."""
        await self.call("user_sendmsg", peer=peer, flag="v1:E:3600", t="instant", content=content)

    async def join(self, channel: str) -> dict:
        return await self.call("channel_join", name=channel)

    async def leave(self, channel: str) -> dict:
        return await self.call("channel_leave", name=channel)

    async def say(self, channel: str, text: object) -> dict:
        return await self.call("channel_sendmsg", name=channel, msg=text)

    async def act(self, verb: str, channel: str, peer: str, extra: str = "") -> dict:
        """One of the `voip_...` calls."""
        return await self.call(f"voip_{verb}", channelName=channel, peer=peer, extra=extra)

    # What came in

    def texts(self, source: str | None = None) -> list[str]:
        """Contents of the instant messages, in the order of arrival."""
        return [m.content for m in self.messages if m.type == "instant" and source in (None, m.source)]

    def of_type(self, kind: str) -> list[Event]:
        return [event for event in self.events if event.type == kind]

    def calls(self, verb: str) -> list[dict]:
        """Contents of the `voip_...` entries of one kind."""
        return [m.call for m in self.messages if m.type == f"voip_{verb}"]

    # Inside

    def _expect(self, good: object, what: str) -> None:
        if not good:
            self.violations.append(what)

    async def _answer(self, name: str) -> object:
        future = self._answers[name] = asyncio.get_running_loop().create_future()
        return await asyncio.wait_for(future, ANSWER_SECONDS)

    async def _drop_reader(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
            self._reader = None

    async def _read(self, socket: ClientConnection) -> None:
        try:
            async for payload in socket:
                self._frame(payload)
        except ConnectionClosed:
            pass
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            # Whatever makes this client fail makes real clients fail.
            self.violations.append(f"a frame that can't be read: {error!r}")
        finally:
            self.close_code = socket.close_code
            self.closed.set()
            lost = ConnectionError(f"{self.account}: closed with {socket.close_code}, close frame {self.close_frame!r}")
            for future in [*self._calls.values(), *self._answers.values()]:
                if future is not None and not future.done():
                    future.set_exception(lost)
                    future.exception()

    def _frame(self, payload: str | bytes) -> None:
        self._expect(isinstance(payload, str), "a binary frame")
        frame = json.loads(payload)
        if not (isinstance(frame, list) and len(frame) == 2 and isinstance(frame[0], str)):
            self.violations.append("a frame that is not [name, argument]")
            return
        name, argument = frame
        self.frames.append(frame)
        if name == "call2-ret":
            self._returned(argument)
        elif name == "login_ret":
            self._logged_in(argument)
        elif name == "notify" and isinstance(argument, list) and argument[:1] == ["msg"]:
            self._expect(type(argument[1]) is int, "the version of a notify is no number")
            self._expect(self.line, "a notify before the answer to the login")
            self._poll()
        elif name == "notify" and isinstance(argument, list) and argument[:1] == ["channel2"]:
            self._channel_event(argument)
        elif name == "close":
            self.close_frame = argument
        elif name in self._answers and not self._answers[name].done():
            self._answers[name].set_result(argument)
        else:
            self.other_frames.append(frame)

    def _logged_in(self, argument: list) -> None:
        # At once, as the real clients do: the next frame may be a notify.
        error, text = argument
        data = json.loads(text)
        if error == "" and data.get("result") == "ok":
            self.line, self.uid = data["line"], data["uid"]
            SPOKEN.line(self.line)
            self._expect(isinstance(self.line, str) and self.line, "the line is empty or no string")
            self._expect(type(self.uid) is int, "the uid is no number")
            self._poll()
        if not self._answers["login_ret"].done():
            self._answers["login_ret"].set_result(argument)

    def _returned(self, argument: list) -> None:
        number, error, text = argument
        data = json.loads(text)
        if type(number) is not int or number not in self._calls:
            self.violations.append(f"an answer to a call that was not made: {number!r}")
            return
        self._expect(number == next(iter(self._calls)), "calls answered out of order")
        future = self._calls.pop(number)
        good = isinstance(error, str) and isinstance(data, dict) and (error == "") == (data.get("result") == "ok")
        self._expect(good, f"err and result disagree: {error!r} {data}")
        if error:
            shape = isinstance(data.get("reason"), str) and isinstance(data.get("code"), int) \
                and isinstance(data.get("data", {}).get("result"), str)
            self._expect(shape, f"an error without reason, code or data.result: {data}")
        if future is None:
            self._mailbox(error, data)
        elif not future.done():
            future.set_result((error, data))

    def _channel_event(self, argument: list) -> None:
        _, _, number, line = argument
        self._expect(type(number) is int and number > self.channel_mark, f"event id {number!r} after {self.channel_mark}")
        self.channel_mark = number
        _, _, kind, content = self._parse(line)
        event = Event(number, kind, json.loads(content))
        self._expect({"channel", "account", "uid"} <= event.content.keys(), f"{kind} without channel, account or uid")
        self.events.append(event)

    def _poll(self) -> None:
        if self.polls and not self._polling:
            self._polling = True
            asyncio.create_task(self._ask_for_messages())

    async def _ask_for_messages(self) -> None:
        number = next(self._ids)
        self._calls[number] = None
        try:
            await self.send("call2", [
                "user_getmsg", number, {"line": self.line, "ver_clear": self.version, "max": PAGE}])
        except ConnectionClosed:
            pass

    def _mailbox(self, error: str, data: dict) -> None:
        # At once, as the real clients do: a notify in the next frame must find the poll over.
        self._polling = False
        if error:
            self._expect(False, f"user_getmsg failed: {error}")
            return
        self._expect(type(data["ver_clear"]) is int, "ver_clear is no number")
        self._expect(len(data["msgs"]) <= PAGE, "more messages than asked for")
        for version, line in data["msgs"]:
            self._expect(version > data["ver_clear"], "a message at or below the answer's own ver_clear")
            self._expect(version > self.version, f"message {version} after {self.version}")
            self.version = version
            source, _, kind, content = self._parse(line)
            self.messages.append(Message(version, source, kind, content))

    def _parse(self, line: str) -> tuple[str, str, str, str]:
        fields = line.split(" ", 6)
        if len(fields) != 7 or fields[0] != "msg-v2" or "" in fields[1:6]:
            self.violations.append("a line that is not msg-v2")
            return ("", "", "", "{}")
        return fields[1], fields[2], fields[4], fields[6]
