"""`heliographctl tail` and `top`: what happens now, for scripts and in a terminal."""

import asyncio
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest
from stack_control import BINARIES, Stack, clean_environment, run_program, unique
from waiting import eventually, paced

CONTROL = str(BINARIES / "heliographctl")
ESCAPE = re.compile(r"\x1b\[[?0-9;]*[A-Za-z]")


def settings(stack: Stack, **more: str) -> dict[str, str]:
    found = stack.endpoints
    return clean_environment(
        HELIOGRAPH_REDIS_URL=found["redis"]["url"], HELIOGRAPH_POSTGRES_URL=found["postgres"]["url"], **more)


class Tail:
    """A running `tail --json`, or `trace --json`."""

    def __init__(self, process: asyncio.subprocess.Process):
        self.process = process
        self.events: list[dict] = []
        self.notes: list[str] = []

    async def read(self, *, output: bool) -> None:
        stream = self.process.stdout if output else self.process.stderr
        while line := await stream.readline():
            if output:
                self.events.append(json.loads(line))
            else:
                self.notes.append(line.decode())

    def told(self, *names: str) -> list[tuple]:
        """The events of accounts, each as event, account, channel."""
        return [(event["event"], event["account"], event.get("channel")) for event in self.events if event["account"] in names]


@asynccontextmanager
async def tail(stack: Stack, *arguments: str, clients: int = 2) -> AsyncIterator[Tail]:
    async with following(stack, "tail", *arguments, notes=clients) as running:
        yield running


@asynccontextmanager
async def following(stack: Stack, command: str, *arguments: str, notes: int = 1) -> AsyncIterator[Tail]:
    process = await asyncio.create_subprocess_exec(
        CONTROL, command, "--app", stack.open_app.id, "--json", *arguments, env=settings(stack),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    running = Tail(process)
    readers = [asyncio.create_task(running.read(output=output)) for output in (True, False)]
    try:
        await eventually(lambda: len(running.notes) == notes, f"it follows: {running.notes}", 20)
        yield running
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
        await asyncio.gather(process.wait(), *readers)


async def test_what_happens_is_told(stack: Stack, people):
    room = unique("room")
    async with tail(stack) as running, people(stack) as cast:
        anna, = await cast.login("anna")
        await anna.join(room)
        await anna.leave(room)
        await anna.logout()
        name = anna.account
        wanted = [("online", name, None), ("join", name, room), ("leave", name, room), ("offline", name, None)]
        await eventually(lambda: sorted(running.told(name), key=str) == sorted(wanted, key=str), "all events are told", 20)
    assert running.process.returncode == 0
    # Its own clients are gone, and were not shown.
    assert not [event for event in running.events if event["account"].startswith("heliographctl-")]
    left = "SELECT count(*) FROM online_users WHERE account LIKE 'heliographctl-%'"
    await eventually(lambda: stack.sql(left) == [["0"]], "the clients of tail have logged out", 20)


@pytest.mark.every_redis
async def test_a_user_is_traced(stack: Stack, people):
    room, secret = unique("room"), "a text that is nobody's business"
    async with people(stack) as cast:
        anna, ben = cast.make("anna"), cast.make("ben")
        async with following(stack, "trace", f"--account={anna.account}") as running, people(stack):
            def told(text: str) -> list[str]:
                return [entry["entry"] for entry in running.events if text in entry["entry"]]

            for number, client in enumerate((ben, anna)):
                await client.login(stack.gateways[number % len(stack.gateways)])
            await anna.join(room)
            await anna.tell(ben.account, secret)
            await ben.tell(anna.account, secret)
            await ben.call("user_set_attr", name="mood", value=secret)
            assert (await anna.attempt("user_get_attr", account="", name="mood")).error
            await eventually(lambda: len(anna.texts(ben.account)) == 1, "the message has come")
            line = anna.line
            anna.abort()
            await eventually(lambda: told("connection lost"), f"the end is told: {running.events}")
            # From this machine, or from the tests' own host.
            assert re.fullmatch(r"login by .* from [0-9.]+, (takes|polls for) messages", told("login by")[0]), running.events
            assert told("login: ok") and told(f"channel_join {room}") and told(f"user_sendmsg to {ben.account}")
            assert told("cannot be read") and told("failed with") and told("message ")
            # In their order, by one clock, and of this user only.
            times = [entry["time"] for entry in running.events]
            assert times == sorted(times) and abs(times[-1] / 1000 - time.time()) < 60
            assert not told("user_set_attr") and not [entry for entry in running.events if entry.keys() != {"time", "gateway", "entry"}]
            everything = json.dumps(running.events)
            assert secret not in everything and line not in everything and line.split(".")[1] not in everything
        assert running.process.returncode == 0
    acts = stack.sql(f"SELECT act, details FROM audit_trail WHERE subject = '{anna.account}'")
    assert acts == [["user.trace", '{"seconds": 600}']]


async def test_a_trace_ends(stack: Stack, people):
    async with people(stack) as cast:
        anna, = await cast.login("anna")
        async with following(stack, "trace", f"--account={anna.account}", "--count=2") as running:
            await anna.call("user_query_user_status", account="nobody")
            await eventually(lambda: running.process.returncode == 0, "it ends after two entries", 20)
        assert [entry["entry"].split(":")[0].rstrip("0123456789 ") for entry in running.events] == ["call", "answer to"]
    async with following(stack, "trace", "--account=nobody", "--seconds=1") as running:
        await eventually(lambda: running.process.returncode == 0, "it ends in time", 20)
    done = run_program(CONTROL, "trace", "--app=unknown-app", "--account=anna", **settings(stack))
    assert done.returncode == 1 and "unknown-app" in done.stderr


async def test_filters(stack: Stack, people):
    room, other = unique("room"), unique("other")
    async with people(stack) as cast:
        anna, ben = await cast.login("anna", "ben")
        async with (
                tail(stack, f"--channel={room}", clients=1) as of_channel, tail(stack, f"--account={ben.account}") as of_ben,
                tail(stack, "--events", "leave", "--count=2", clients=1) as leaves):
            for client in (anna, ben):
                await client.join(room)
                await client.join(other)
            await eventually(lambda: leaves.process.returncode == 0, "it ends after two events", 20)
            await eventually(lambda: len(of_ben.told(ben.account)) == 3, "Ben's events are told", 20)
            await eventually(lambda: len(of_channel.events) == 4, "the channel's events are told", 20)
        assert [event["event"] for event in leaves.events] == ["leave", "leave"]
        assert {event["channel"] for event in of_channel.events} == {room}
        assert {event["account"] for event in of_ben.events} == {ben.account}


def test_tail_of_an_app_that_has_closed_its_channels(make_stack):
    stack = make_stack(gateways=1)
    stack.control("app", "limit", stack.open_app.id, "--special-channels=closed")
    done = run_program(CONTROL, "tail", "--app", stack.open_app.id, **settings(stack))
    assert done.returncode == 1 and "--special-channels open" in done.stderr
    # In an app that needs tokens it makes one.
    done = run_program(CONTROL, "tail", "--app", stack.token_app.id, "--seconds=1", **settings(stack))
    assert done.returncode == 0 and done.stderr.count("following") == 2, done.stderr
    # It ends in time where nobody answers, too.
    begun = time.monotonic()
    done = run_program(CONTROL, "tail", "--app", stack.token_app.id, "--seconds=1", "--gateway=127.0.0.1:1", **settings(stack))
    assert done.returncode == 0 and "following" not in done.stderr and time.monotonic() - begun < 20


@pytest.mark.parametrize("arguments, words", [
    (["tail", "--app=a", "--count=0"], "--count must be 1...1000000000"),
    (["tail", "--app=a", "--seconds=31536001"], "--seconds must be 1...31536000"),
    (["tail", "--app=a", "--gateway=nowhere"], "--gateway"),
    (["tail", "--app=a", "--events", "call"], "--events"),
    (["tail", "--app=a", "--channel=c", "--events", "online"], "--channel is for"),
    (["trace", "--app=a", "--account=b", "--count=0"], "--count must be 1...1000000000"),
    (["trace", "--app=a", "--account=b", "--seconds=3601"], "--seconds must be 1...3600"),
    (["top", "--interval=61"], "--interval must be 1...60"),
    (["top", "--json"], "--json needs --once"),
    (["top", "--metrics", "https://127.0.0.1:1"], "--metrics"),
    (["top", "--metrics", *[f"http://127.0.0.1:{port}" for port in range(1, 66)]], "64 processes at most"),
    (["top"], "use --once"),
], ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "")
def test_bounds(stack: Stack, arguments: list[str], words: str):
    done = run_program(CONTROL, *arguments, **settings(stack))
    assert done.returncode == 64 and words in done.stderr


def metrics(stack: Stack) -> list[str]:
    return ["--metrics", *[f"{gateway['http']}/metrics" for gateway in stack.endpoints["gateways"]]]


async def test_top_once(stack: Stack, people):
    async with people(stack) as cast:
        anna, ben = await cast.members(unique("room"), "anna", "ben")

        async def talk() -> None:
            async for _ in paced(1000, per_second=20):
                await anna.tell(ben.account, "x")

        talking = asyncio.create_task(talk())
        try:
            done = await asyncio.to_thread(run_program, CONTROL, "top", "--once", "--json", *metrics(stack), **settings(stack))
        finally:
            talking.cancel()
        assert done.returncode == 0, done.stderr
        top = json.loads(done.stdout)
        assert top["processes"]["gateway"] == 2 and top["processes"]["presence"] == 1 and not top["problems"]
        assert len(top["gateways"]) == 2 and top["connections"] == sum(gateway["connections"] for gateway in top["gateways"])
        assert top["rates"]["processes"] == 2 and 2 <= top["rates"]["messagesPerSecond"] <= 30
        assert top["redis"][0]["role"] and top["redis"][0]["memory"] > 0 and top["redis"][0]["commandsPerSecond"] > 0
        assert top["postgres"]["sessions"] >= 2 and top["postgres"]["connections"] > 0
        assert set(top["backlog"]) == {"changes", "commands", "oldestMilliseconds", "timers"}
        text = stack.control("top", "--once")
        assert "GATEWAY" in text and "name the gateways' /metrics" in text and "\x1b" not in text


class Screen:
    """`top` in a terminal of so many columns and rows."""

    def __init__(self, stack: Stack, columns: int, rows: int, **more: str):
        self.main, side = pty.openpty()
        self.resize(columns, rows)
        self.process = subprocess.Popen(
            [CONTROL, "top", "--interval=1", *metrics(stack)], stdin=side, stdout=side, stderr=side, close_fds=True,
            env=settings(stack) | {"TERM": "xterm"} | more)
        os.close(side)
        self.shown = ""

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def next_picture(self, mark: str) -> str:
        """The next whole picture; `mark` is what each ends with."""
        begun = len(self.shown)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            text = self.shown[begun:]
            # One that has begun after the call, and has ended.
            if text.count(mark) >= 2:
                return text.split(mark)[1]
            if select.select([self.main], [], [], 1)[0]:
                self.shown += os.read(self.main, 65536).decode()
        raise AssertionError(f"no picture: {self.shown!r}")

    def end(self) -> str:
        self.process.send_signal(signal.SIGINT)
        while True:
            try:
                part = os.read(self.main, 65536).decode()
            except OSError:
                break
            self.shown += part
            if not part:
                break
        assert self.process.wait(20) == 0
        return self.shown


@contextmanager
def screen(stack: Stack, columns: int, rows: int, **more: str) -> Iterator[Screen]:
    running = Screen(stack, columns, rows, **more)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait()
        os.close(running.main)


def lines_of(picture: str) -> list[str]:
    return [line.rstrip("\r") for line in ESCAPE.sub("", picture).split("\n")]


def test_top_fits_the_terminal(stack: Stack):
    with screen(stack, 100, 30) as wide:
        lines = lines_of(wide.next_picture("\x1b[J"))
        assert lines[0].startswith("heliograph  20") and any(line.startswith("Redis       127.0.0.1:") for line in lines)
        assert max(map(len, lines)) <= 100 and len(lines) <= 30
        assert len([line for line in lines if re.match(r"\S+-0 +127\.0\.0\.1:", line)]) == 2
        # The terminal is made smaller while it runs.
        wide.resize(40, 9)
        wide.next_picture("\x1b[J")
        small = lines_of(wide.next_picture("\x1b[J"))
        assert max(map(len, small)) == 40 and len(small) <= 9
        everything = wide.end()
    assert "\x1b[1mheliograph" in everything
    # What was on the terminal before comes back, with the cursor.
    assert everything.startswith("\x1b[?1049h") and everything.endswith("\x1b[?1049l") and "\x1b[?25h" in everything


@pytest.mark.parametrize("more, mark", [({"NO_COLOR": "1"}, "\x1b[J"), ({"TERM": "dumb"}, "\r\n\r\n")], ids=["no colour", "dumb"])
def test_top_without_colours(stack: Stack, more: dict[str, str], mark: str):
    with screen(stack, 80, 24, **more) as plain:
        assert "PostgreSQL  connections" in plain.next_picture(mark)
        everything = plain.end()
    assert not re.search(r"\x1b\[[0-9;]*m", everything)
    assert ("\x1b" in everything) == ("TERM" not in more)


def test_top_when_a_store_is_away(make_stack):
    stack = make_stack(gateways=1)
    found = settings(stack)
    done = run_program(CONTROL, "top", "--once", **(found | {"HELIOGRAPH_POSTGRES_URL": "postgresql://nobody@127.0.0.1:1/none"}))
    assert done.returncode == 0 and "PostgreSQL: " in done.stdout and "Redis       " in done.stdout
    done = run_program(CONTROL, "top", "--once", **(found | {"HELIOGRAPH_REDIS_URL": "redis://127.0.0.1:1"}))
    assert done.returncode == 0 and "Redis: " in done.stdout and "PostgreSQL  connections" in done.stdout
