"""Users who talk all the time while something is done to their cluster, and what they notice of it."""

import asyncio
import itertools
import time

from answers import CallFailed
from signaling import Client
from stack_control import Stack, unique
from waiting import before_next_try, eventually
from websockets.exceptions import ConnectionClosed

# What a user sends in a second: a tenth of what it may.
PAUSE_SECONDS = 0.1
RETURN_SECONDS = 15
# What ends a connection; a client comes back then.
LOST = (ConnectionError, ConnectionClosed, OSError, TimeoutError)


class Chat:
    """`async with Chat(stack, cast) as chat:` pairs of users, both of whom send to each other, and one channel that all are in.

    Like our own clients, they resume their sessions by themselves, and send again, with the same `messageID`, what was not answered.
    Any other failure of a call fails the test, unless its reason is among `repeated`: then it is sent again likewise.
    """

    def __init__(self, stack: Stack, cast, *, repeated: tuple[str, ...] = ()):
        self.stack, self.cast, self._repeated = stack, cast, repeated
        self.users: list[Client] = []
        self.room = unique("room")
        self.sent: dict[Client, int] = {}
        self.said = 0
        self.worst: float = 0
        """The longest time of an act, in seconds, with all its attempts."""
        self.returns = 0
        self._up: dict[Client, asyncio.Event] = {}
        self._over = asyncio.Event()
        self._talking: list[asyncio.Task] = []
        self._staying: list[asyncio.Task] = []

    async def __aenter__(self) -> "Chat":
        return self

    async def __aexit__(self, *_: object) -> None:
        # Before the users' connections are closed, which they would open again.
        tasks = [*self._talking, *self._staying]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def begin(self, accounts: list[str]) -> None:
        """Logs these users in, an even number, and lets them talk."""
        for number, account in enumerate(accounts):
            user = self.cast.exactly(account)
            await user.login(self.stack.gateways[number % len(self.stack.gateways)])
            await user.join(self.room)
            self.users.append(user)
            self.sent[user] = 0
            self._up[user] = asyncio.Event()
            self._up[user].set()
            self._staying.append(asyncio.create_task(self._stay(user, number)))
        for one, other in self._pairs:
            self._talking += [asyncio.create_task(self._write(*pair)) for pair in ((one, other), (other, one))]
        self._talking.append(asyncio.create_task(self._speak(self.users[0])))
        await self.goes_on()

    @property
    def _pairs(self) -> list[tuple[Client, Client]]:
        return list(zip(self.users[::2], self.users[1::2], strict=True))

    async def goes_on(self, rounds: int = 3) -> None:
        """Waits until everybody has sent some more messages. Raises what a user could not bear."""
        wanted = {user: count + rounds for user, count in self.sent.items()}
        said = self.said + rounds

        def has_gone_on() -> bool:
            for task in (*self._talking, *self._staying):
                if task.done():
                    task.result()
            return self.said >= said and all(self.sent[user] >= count for user, count in wanted.items())

        await eventually(has_gone_on, "everybody talks", RETURN_SECONDS)

    async def end(self, longest: float) -> None:
        """Ends the talk. Everything that was acknowledged has arrived once and in order, and no act took longer than this."""
        self._over.set()
        await asyncio.gather(*self._talking)
        for one, other in self._pairs:
            for sender, receiver in ((one, other), (other, one)):
                wanted = [text_of(number) for number in range(self.sent[sender])]
                await eventually(
                    lambda sender=sender, receiver=receiver, wanted=wanted: receiver.texts(sender.account) == wanted,
                    f"{receiver.account} has each of {len(wanted)} messages once, in order")
        spoken = [text_of(number) for number in range(self.said)]
        for user in self.users:
            await eventually(
                lambda user=user: [event.content["msg"] for event in user.of_type("channel_msg")] == spoken,
                f"{user.account} has each of {len(spoken)} messages of the channel once, in order")
            assert not user.of_type("channel_user_leave"), "somebody left"
        assert self.worst < longest, f"the longest act took {self.worst:.1f} s"

    async def _write(self, sender: Client, receiver: Client) -> None:
        for number in itertools.count():
            if self._over.is_set():
                return
            await self._insist(
                sender, "user_sendmsg", peer=receiver.account, flag="v1:E:3600", t="instant", content=text_of(number),
                messageID=f"mail-{number}")
            self.sent[sender] = number + 1
            await before_next_try(PAUSE_SECONDS)

    async def _speak(self, speaker: Client) -> None:
        for number in itertools.count():
            if self._over.is_set():
                return
            await self._insist(speaker, "channel_sendmsg", name=self.room, msg=text_of(number), messageID=f"said-{number}")
            self.said = number + 1
            await before_next_try(PAUSE_SECONDS)

    async def _insist(self, client: Client, function: str, **arguments: str) -> None:
        """Calls until there is an answer, on as many connections as that takes."""
        started = time.monotonic()
        while True:
            # A call without a connection would count as one that was not answered.
            await asyncio.wait_for(self._up[client].wait(), RETURN_SECONDS)
            try:
                reply = await client.attempt(function, **arguments)
                if reply.ok or reply.data.get("reason") not in self._repeated:
                    break
                await before_next_try(PAUSE_SECONDS)
            except (ConnectionError, ConnectionClosed):
                # The task that notices the end of the connection may not have run yet.
                await before_next_try(PAUSE_SECONDS)
        if not reply.ok:
            raise CallFailed(function, reply.error, reply.data)
        self.worst = max(self.worst, time.monotonic() - started)

    async def _stay(self, client: Client, at: int) -> None:
        """Resumes a client's session whenever its connection ends, at the next gateway."""
        while True:
            await client.closed.wait()
            self._up[client].clear()
            deadline = time.monotonic() + RETURN_SECONDS
            while True:
                at += 1
                try:
                    answer = await client.resume(
                        self.stack.gateways[at % len(self.stack.gateways)], channel=self.room, after=client.channel_mark)
                    break
                except LOST as failure:
                    assert time.monotonic() < deadline, f"{client.account} does not come back: {failure!r}"
                await before_next_try(PAUSE_SECONDS)
            assert answer.get("result") == "ok" and answer.get("complete") is not False, answer
            self.returns += 1
            self._up[client].set()


def text_of(number: int) -> str:
    """A message, long enough for the search in logs (Tests/Support/secrecy.py)."""
    return f"number {number} of this chat"
