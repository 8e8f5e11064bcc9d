#!/usr/bin/env python3
"""Telephone calls at a steady rate through a cluster of its own; the exit status is 0 when none failed.

Inbound: sipp calls, users answer, sipp hangs up. Outbound: users call, sipp answers, users hang up. A call is good when
both sides went through all of it. The times are from INVITE to 200 as sipp sees them, or from the invitation to its
acceptance as the user sees them.
"""

import argparse
import asyncio
import statistics
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "Support"), str(HERE.parent / "Support")]

from peers import LOOPBACK, Peers, free_port  # noqa: E402
from scenarios import Called, Caller, pause, scenario, sdp  # noqa: E402
from scene import TRUNK_SECONDS  # noqa: E402
from signaling import Client  # noqa: E402
from sipp import Sipp  # noqa: E402
from stack_control import Stack, unique  # noqa: E402
from waiting import eventually, let_pass, paced  # noqa: E402

USERS = 10
TALK_SECONDS = 2
FINISH_SECONDS = 30


class Sink(asyncio.DatagramProtocol):
    """The RTP port of the phones: counts the packets, and ignores them."""

    def __init__(self) -> None:
        self.packets = 0

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.packets += 1


class Answering(Client):
    """A user who accepts every invitation."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self.seen = 0
        self.accepted = 0
        self.failures: list[str] = []
        self._tasks: set[asyncio.Task] = set()

    def _mailbox(self, error: str, data: dict) -> None:
        super()._mailbox(error, data)
        for message in self.messages[self.seen:]:
            if message.type == "voip_invite":
                task = asyncio.create_task(self._accept(message.call))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        self.seen = len(self.messages)

    async def _accept(self, call: dict) -> None:
        try:
            await self.act("invite_ack", call["channel"], call["peer"])
            await self.act("invite_accept", call["channel"], call["peer"])
            self.accepted += 1
        except Exception as error:  # noqa: BLE001 - whatever it is, the call failed
            self.failures.append(repr(error))


async def logged_in(stack: Stack, kind: type[Client]) -> list[Client]:
    """The users of a benchmark, on each gateway in turn."""
    users = [kind(stack.open_app, unique("bench")) for _ in range(USERS)]
    for index, user in enumerate(users):
        await user.login(stack.gateways[index % len(stack.gateways)])
    return users


async def inbound(stack: Stack, rate: int, seconds: int, media: int) -> tuple[int, int, list[float]]:
    """Telephones call users. Returns the number of calls, how many failed, and the seconds to each answer."""
    total = rate * seconds
    users = await logged_in(stack, Answering)
    numbers = []
    for index, user in enumerate(users):
        numbers.append(f"+49309{index:05}")
        stack.control(
            "number", "set", f"--app={stack.open_app.id}", f"--account={user.account}", "--", numbers[-1])
    async with Peers() as peers:
        call = Caller("[field0]")
        text = scenario(
            call.invite(sdp(media)), call.is_answered(), pause(TALK_SECONDS), call.hangs_up())
        sip = stack.endpoints["sip"]
        phones = Sipp(
            peers, text, target=(sip["host"], sip["port"]), calls=total,
            extra=("-r", str(rate), "-l", str(rate * (TALK_SECONDS + 10)), "-inf", "numbers.csv"),
            seconds=seconds + FINISH_SECONDS)
        (phones.directory / "numbers.csv").write_text("SEQUENTIAL\n" + "".join(f"{number}\n" for number in numbers))
        await peers.start(phones)
        await phones.process.wait()
        await eventually(
            lambda: sum(len(user.calls("invite_bye")) for user in users) >= total or phones.process.returncode != 0,
            "the users see every call's end")
        answered = {m.header("Call-ID"): m.at for m in phones.received(200) if m.cseq[1] == "INVITE"}
        invited = {m.header("Call-ID"): m.at for m in reversed(phones.sent("INVITE"))}
        ended = {m.header("Call-ID") for m in phones.received(200) if m.cseq[1] == "BYE"}
        times = [answered[name] - invited[name] for name in answered]
        if phones.process.returncode != 0:
            print(phones.errors, file=sys.stderr)
    for user in users:
        for failure in user.failures:
            print(f"{user.account}: {failure}", file=sys.stderr)
        await user.close()
    return total, total - len(ended), times


async def outbound(stack: Stack, rate: int, seconds: int, media: int, port: int) -> tuple[int, int, list[float]]:
    """Users call telephones. Returns the number of calls, how many failed, and the seconds to each acceptance."""
    total = rate * seconds
    stack.control(
        "trunk", "set", stack.open_app.id, f"{LOOPBACK}:{port}", "--allow=any",
        *(f"--{bound}=10000" for bound in ("user-calls", "user-calls-per-minute", "app-calls", "app-calls-per-minute")))
    await let_pass(TRUNK_SECONDS, "bridges read the trunks so often, and tell nobody")
    users = await logged_in(stack, Client)
    times: list[float] = []

    async def one(number: int) -> None:
        user, phone, channel = users[number % USERS], f"+4940{number:06}", unique("call")
        started = time.monotonic()
        await user.act("invite", channel, phone)
        await eventually(
            lambda: any(call["channel"] == channel for call in user.calls("invite_accept")), f"{phone} answers",
            FINISH_SECONDS)
        times.append(time.monotonic() - started)
        await let_pass(TALK_SECONDS, "the two talk")
        await user.act("invite_bye", channel, phone)

    async with Peers() as peers:
        text = scenario(
            Called.invited(), Called.answer(180), Called.picks_up(sdp(media)), Called.is_hung_up())
        phones = await peers.start(Sipp(
            peers, text, port=port, calls=total, log_messages=False, seconds=seconds + 2 * FINISH_SECONDS))
        tasks = []
        async for number in paced(total, rate):
            tasks.append(asyncio.create_task(one(number)))
        results = await asyncio.gather(*tasks, return_exceptions=True)
        failures = [result for result in results if result is not None]
        for failure in failures[:5]:
            print(repr(failure), file=sys.stderr)
        if not failures and await phones.process.wait() != 0:
            print(phones.errors, file=sys.stderr)
            failures.append("sipp")
    for user in users:
        await user.close()
    return total, len(failures), times


def told(name: str, result: tuple[int, int, list[float]], packets: int) -> bool:
    """Prints one line; returns whether all calls succeeded."""
    total, failed, times = result
    cuts = statistics.quantiles(times, n=100) if len(times) > 1 else [0] * 99
    print(
        f"{name:9} {total} calls, {failed} failed; to the answer: median {cuts[49] * 1000:.0f} ms, "
        f"99 % {cuts[98] * 1000:.0f} ms, longest {max(times, default=0) * 1000:.0f} ms; {packets} RTP packets")
    return failed == 0


async def run(arguments: argparse.Namespace) -> bool:
    port, media = free_port(), free_port()
    stack = Stack()
    good = True
    try:
        stack.up("--unlimited", "--sip-trunk", f"{LOOPBACK}:{port}", gateways=2)
        loop = asyncio.get_running_loop()
        transport, sink = await loop.create_datagram_endpoint(Sink, local_addr=(LOOPBACK, media))
        for name, test in (("inbound", inbound), ("outbound", lambda *args: outbound(*args, port))):
            if arguments.direction in (name, "both"):
                before = sink.packets
                result = await test(stack, arguments.rate, arguments.seconds, media)
                good = told(name, result, sink.packets - before) and good
        transport.close()
    finally:
        if good:
            stack.remove()
        else:
            stack.down()
            print(f"logs of the stack: {stack.directory / 'logs'}", file=sys.stderr)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=int, default=20, help="calls per second (default: 20)")
    parser.add_argument("--seconds", type=int, default=30, help="for how long (default: 30)")
    parser.add_argument("--direction", choices=("inbound", "outbound", "both"), default="both")
    return 0 if asyncio.run(run(parser.parse_args())) else 1


if __name__ == "__main__":
    sys.exit(main())
