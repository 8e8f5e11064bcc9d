"""One user, as real applications behave: pings, polls or takes pushes, reconnects by itself, and records everything."""

import asyncio
import itertools
import json
import random
from collections.abc import Callable

from answers import Event, LoginRefused, Reply
from apps import App
from history import History, now
from signaling import Client
from waiting import before_next_try, let_pass
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, WebSocketException

PING_SECONDS = 5
# An act is given up after this time, far longer than a gateway promises.
GIVE_UP_SECONDS = 40
OPEN_SECONDS = 6
PAUSE_SECONDS = 0.05
# Close frames after which a session cannot be resumed.
OVER = ("kick", "token_expired", "bad_line")
# The close frame of a session that logged out.
LOGGED_OUT = "101"
# The number of messages, and the seconds, after which a push client acknowledges.
ACKNOWLEDGE_AFTER = 30, 1
# Part of every body and value; logs are searched for it.
BODY = "sesame-opens"
BROKEN = (OSError, TimeoutError, ConnectionError, WebSocketException, LoginRefused)


class User(Client):
    """A client of one account that goes on through faults."""

    connections = itertools.count(1)

    def __init__(self, history: History, app: App, account: str, gateways: list[str], *, push: bool, patience: float = 60,
                 at: int = 0):
        super().__init__(app, account, polls=not push)
        self.history, self.gateways, self.push = history, gateways, push
        self.patience = patience
        """Seconds without any frame after which it takes the connection for dead."""
        self.returns = True
        """Whether it comes back when its connection is closed."""
        self.at = at
        """The gateway to try next."""
        self.session = 0
        self.connection = next(User.connections)
        self.channel: str | None = None
        """Where it is or wants to be."""
        self.after = 0
        """The last channel event it saw."""
        self.up = asyncio.Event()
        self.on_call: Callable[[str, dict], None] = lambda verb, call: None
        self._heard = now()
        self._unacknowledged = 0
        self._acknowledging: asyncio.Task | None = None
        self._wants_end = False
        self._logout: asyncio.Task | None = None
        self._logs_out = False
        self._joining: tuple[str, float] | None = None
        """The channel of the join that is not answered yet, and when it was asked for."""
        self._keeper: asyncio.Task | None = None
        self._tasks: set[asyncio.Task] = set()

    # Life

    async def arrive(self) -> "User":
        """Logs in, and reconnects by itself from then on."""
        await self._enter()
        self._keeper = asyncio.create_task(self._keep())
        return self

    async def depart(self) -> None:
        """Logs out, retrying until it succeeds."""
        self.forget_channel("logs out")
        self.channel = None
        self._logs_out = True
        for _ in range(GIVE_UP_SECONDS):
            self._logout = asyncio.create_task(self.act("logout", "user_logout"))
            reply = await self._logout
            if reply and reply.ok or self.close_frame == LOGGED_OUT:
                break
            self._logout = None
            await before_next_try(1)
        await self.drop()
        self._logout = None
        self._logs_out = False

    async def drop(self) -> None:
        """Loses its connection, and doesn't come back until `return_`."""
        self._wants_end = True
        if self._keeper:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
            self._keeper = None
        if self._socket is not None:
            self.abort()
            if not self.closed.is_set() and self._reader is not None:
                await self.closed.wait()
            if self.up.is_set():
                self._note_closed()

    async def return_(self, at: int | None = None) -> None:
        """Comes back after `drop`, by resuming, on another gateway if one is named."""
        self._wants_end = False
        self.at = self.at if at is None else at
        await self._come_back()
        self._keeper = asyncio.create_task(self._keep())

    async def _keep(self) -> None:
        while True:
            try:
                await asyncio.wait_for(self.closed.wait(), PING_SECONDS)
            except TimeoutError:
                if now() - self._heard > self.patience:
                    self.abort()
                    await self.closed.wait()
                else:
                    try:
                        await self.send("ping", 1)
                    except ConnectionClosed:
                        pass
                    continue
            reply = await self._logout if self._logout else None
            # A logout whose answer did not come in time may have taken place all the same; the close frame tells.
            done = reply and reply.ok or self._logs_out and self.close_frame == LOGGED_OUT
            self._wants_end = self._wants_end or bool(done)
            self._note_closed()
            if self._wants_end or not self.returns:
                return
            await self._come_back()

    def _note_closed(self) -> None:
        self.up.clear()
        self.history.note(
            "closed", who=self.account, connection=self.connection, session=self.session, reason=self.close_frame,
            code=self.close_code, wanted=self._wants_end, resuming=False)

    async def _come_back(self) -> None:
        wait = 0.1
        while True:
            self.at += 1
            try:
                if self.line and not self._is_over:
                    await self._resume()
                else:
                    await self._enter()
                    if self.channel:
                        await self.join(self.channel)
                return
            except BROKEN:
                if self._is_over and self.line:
                    # The session cannot be resumed, only a new login is possible. The checker judges how the session ended.
                    self.history.note(
                        "closed", who=self.account, connection=self.connection, session=self.session, reason=self.close_frame,
                        code=self.close_code, wanted=False, resuming=True)
                    self.forget_channel("session lost")
                    self.line = ""
                await before_next_try(wait * random.uniform(0.5, 1))
                wait = min(2 * wait, 2)

    async def _enter(self) -> None:
        if self.line:
            self.forget_channel("session lost")
        await self._drop_reader()
        self._calls.clear()
        self._polling = False
        self.line, self.version, self.channel_mark = "", 0, 0
        self.session += 1
        started = now()
        url = self.gateways[self.at % len(self.gateways)]
        await self.connect(url)
        await self.send("login", {
            "vid": self.app.id, "account": self.account, "uid": 0, "token": self.token, "device": "websdk", "ip": "",
            **({"push": 1} if self.push else {})})
        error, text = await self._answer("login_ret")
        self.history.note(
            "act", who=self.account, session=self.session, connection=self.connection, gateway=self.gateway, act="login", t0=started,
            asked=started, t1=now(), ok=error == "", code=None, reason=error)
        if error:
            raise LoginRefused(error, json.loads(text))
        self._opened("login")

    async def _resume(self) -> None:
        asked = now()
        answer = await self.resume(self.gateways[self.at % len(self.gateways)], **({"after": self.after} if self.channel else {}))
        self._opened("resume")
        if self.channel and answer.get("complete") is False:
            # The server said that events are missing: an application would read the channel's state again.
            self.forget_channel("told of a gap")
            self.history.note("in", who=self.account, channel=self.channel, asked=asked, listed=None)

    def _opened(self, by: str) -> None:
        self._wants_end = False
        self.history.note("open", who=self.account, connection=self.connection, session=self.session, gateway=self.gateway, by=by)
        self.up.set()

    @property
    def _is_over(self) -> bool:
        """Whether the last close frame ended the session; others (a code) ask the client to try again."""
        return self.close_frame in OVER

    @property
    def gateway(self) -> str:
        return f"gateway#{self.at % len(self.gateways) + 1}"

    async def connect(self, url: str) -> "User":
        self.close_frame = None
        if self._socket is not None:
            self.abort()
        self._socket = await connect(
            url, proxy=None, compression=None, ping_interval=None, max_size=None, open_timeout=OPEN_SECONDS, close_timeout=1)
        self.closed.clear()
        self.close_code = None
        self._heard = now()
        self._reader = asyncio.create_task(self._read(self._socket))
        return self

    # Acts

    async def act(self, name: str, function: str, notes: dict | None = None, /, **arguments: object) -> Reply | None:
        """Calls a function and records the result; None without a connection, or without an answer.

        What has a `messageID` is asked again after a resume, as our own clients do.
        """
        if not self.up.is_set():
            return None
        record = {
            "who": self.account, "session": self.session, "connection": self.connection, "act": name, "t0": now(),
            **(notes or {})}
        reply, reason = None, ""
        while True:
            record |= {"asked": now(), "gateway": self.gateway}
            try:
                reply = await self.attempt(function, within=GIVE_UP_SECONDS, **arguments)
                reason = "" if reply.ok else reply.data.get("reason", reply.error)
            except (ConnectionError, ConnectionClosed):
                reason = "connection lost"
            except AssertionError:
                reason = "unanswered"
            if reply is None and "messageID" in arguments and reason == "connection lost" and not self._wants_end:
                # The task that clears `up` may not have run yet.
                await before_next_try(PAUSE_SECONDS)
                await self.up.wait()
                if self.session == record["session"]:
                    continue
            break
        record |= {"t1": now(), "ok": reply.ok if reply else None, "reason": reason}
        self.history.note("act", code=reply.data.get("code") if reply else None, **record)
        return reply

    async def write(self, to: str, n: int) -> None:
        """An instant message."""
        await self.act(
            "send", "user_sendmsg", {"to": to, "n": n}, peer=to, flag="v1:E:3600", t="instant", content=f"{n} {BODY}",
            **self._message_id("m", to, n))

    async def speak(self, channel: str, n: int, stays: bool = False) -> None:
        """A channel message."""
        await self.act(
            "say", "channel_sendmsg", {"channel": channel, "n": n, "stays": stays}, name=channel, msg=f"{n} {BODY}",
            **self._message_id("c", channel, n))

    def _message_id(self, *parts: object) -> dict:
        return {"messageID": "-".join(map(str, (self.session, *parts)))} if self.push else {}

    async def join(self, channel: str) -> bool:
        """Enters a channel, from whichever it is in."""
        self.forget_channel("joins another")
        self.channel = channel
        self._joining = channel, now()
        reply = await self.act("join", "channel_join", {"channel": channel}, name=channel)
        return bool(reply and reply.ok)

    def _returned(self, argument: list) -> None:
        super()._returned(argument)
        data = json.loads(argument[2])
        if self._joining and "list" in data and "attrs" in data:
            # Here and not in `join`: the next frame may be the first event.
            self.after = max(self.after, data.get("id", 0))
            listed = [account for account, _ in data["list"]]
            channel, asked = self._joining
            self.history.note("in", who=self.account, channel=channel, asked=asked, listed=listed)
            self._joining = None

    async def quit(self) -> None:
        """Leaves its channel; asks again until that is certain."""
        channel = self.channel
        self.forget_channel("leaves")
        self.channel = None
        for _ in range(3):
            reply = await self.act("leave", "channel_leave", {"channel": channel}, name=channel)
            if reply:
                return
            await before_next_try(0.5)

    def forget_channel(self, why: str) -> None:
        """Records that events of the channel need not reach this user any more."""
        if self.channel:
            self.history.note("out", who=self.account, channel=self.channel, why=why)

    # What comes in

    def _frame(self, payload: str | bytes) -> None:
        self._heard = now()
        super()._frame(payload)
        # Long runs keep what the checker needs, and no more.
        self.frames.clear()
        while self.other_frames:
            frame = self.other_frames.pop()
            if frame[0] == "notify" and frame[1][:1] == ["recvmsg"]:
                self._take(*json.loads(frame[1][1]))
        if self.violations:
            for text in self.violations:
                self.history.note("violation", who=self.account, text=text)
            self.violations.clear()

    def _mailbox(self, error: str, data: dict) -> None:
        self._polling = False
        if error:
            # Old clients ask again when their timer says so.
            if not self.push:
                asyncio.get_running_loop().call_later(1, self._poll)
            return
        for version, line in data["msgs"]:
            self._take(version, line)

    def _take(self, version: int, line: str) -> None:
        stale = version <= self.version
        self.version = max(self.version, version)
        source, _, kind, content = self._parse(line)
        if kind == "instant":
            head = content.split(" ", 1)[0]
            if head.isdigit():
                self.history.note("mail", who=self.account, session=self.session, sender=source, n=int(head), stale=stale)
        elif not stale:
            call = json.loads(content)
            verb = kind.removeprefix("voip_")
            self.history.note("call", who=self.account, session=self.session, call=call["channel"], verb=verb)
            self.on_call(verb, call)
        if stale and not self.push:
            self._expect(False, f"an entry at or below what a poll had named: {version} after {self.version}")
        if self.push:
            self._unacknowledged += 1
            if self._acknowledging is None:
                self._acknowledging = self.later(self._acknowledge())

    async def _acknowledge(self) -> None:
        wait = 0 if self._unacknowledged >= ACKNOWLEDGE_AFTER[0] else ACKNOWLEDGE_AFTER[1]
        await let_pass(wait, "clients acknowledge many entries at once")
        self._acknowledging, self._unacknowledged = None, 0
        if self.up.is_set():
            number = next(self._ids)
            self._calls[number] = None
            try:
                await self.send("call2", ["user_getmsg", number, {"line": self.line, "ver_clear": self.version, "max": 1000}])
            except ConnectionClosed:
                pass

    def _channel_event(self, argument: list) -> None:
        _, _, number, line = argument
        stale = number <= self.channel_mark
        self._expect(not stale, f"event id {number} after {self.channel_mark}")
        self.channel_mark = self.after = max(self.channel_mark, number)
        _, _, kind, text = self._parse(line)
        event = Event(number, kind, json.loads(text))
        self._expect({"channel", "account", "uid"} <= event.content.keys(), f"{kind} without channel, account or uid")
        head = str(event.content.get("msg") or event.content.get("value") or "").split(" ", 1)[0]
        self.history.note(
            "event", who=self.account, session=self.session, channel=event.content["channel"], type=kind, account=event.account,
            name=event.content.get("name"), n=int(head) if head.isdigit() else None, stale=stale)

    def later(self, work) -> asyncio.Task:
        """Runs a coroutine in the background; `settle` waits for it."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def settle(self) -> None:
        """Waits for the answers to all that was asked."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def close(self) -> None:
        await self.drop()
        for task in self._tasks:
            task.cancel()
        await self._drop_reader()
