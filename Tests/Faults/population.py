"""About 110 users of every kind on all gateways, who keep acting during a fault; a history records what they do and see."""

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable

from audit import Audit, Truth
from checker import undelivered
from history import History, now
from stack_control import Stack
from user import BODY, BROKEN, User
from waiting import before_next_try, let_pass

ROOMS, STAYERS, SPEAKERS = 4, 11, 3
PAIRS, QUIET_PAIRS, WANDERERS, WRITERS, CALLERS, TRAVELLERS, TWINS, LEAVERS = 8, 5, 8, 5, 4, 8, 3, 4
# Seconds between two acts of a kind by one user.
SEND_EVERY, SPEAK_EVERY, SET_EVERY, READ_EVERY = 0.5, 0.8, 0.4, 0.4
RING_SECONDS = 45
SETTLE_SECONDS, RECONNECT_SECONDS = 20, 15
TRY_AGAIN = ("timeout", "unavailable", "memory_full")
# Values of attributes are padded, so that they take memory.
PAD = " " + "x" * 1200


class Population:
    """The users of one run."""

    def __init__(self, stack: Stack, *, size: float = 1):
        self.stack, self.history = stack, History()
        self.size = size
        self.users: list[User] = []
        self.leavers: list[User] = []
        self._work: list[asyncio.Task] = []
        self.hushed = False
        """Whether the quiet pairs have stopped sending."""
        self._over = asyncio.Event()
        self._turn = itertools.count()
        self._serial = itertools.count()
        self.run = f"{random.randrange(16**6):06x}"

    # Phases

    async def settle_in(self) -> None:
        """Everybody logs in and begins."""
        self.history.note("phase", name="load")
        self._work.append(asyncio.create_task(self._watch_lag()))
        for role, count in (
            (self._pair, PAIRS), (self._quiet_pair, QUIET_PAIRS), (self._writer, WRITERS), (self._caller, CALLERS), (self._traveller, TRAVELLERS),
            (self._twin, TWINS), (self._wanderer, WANDERERS),
        ):
            for number in range(self._scaled(count)):
                await self._cast(role, number)
        for room in range(ROOMS):
            for number in range(self._scaled(STAYERS)):
                await self._cast(self._stayer, room, number)
        for number in range(self._scaled(LEAVERS)):
            leaver = await self.arrive(f"leaver{number}", push=True)
            await leaver.act("set", "user_set_attr", {"owner": leaver.account, "name": "_conn_timeout", "n": 20},
                             name="_conn_timeout", value="20")
            await leaver.join(self._room(number))
            self.leavers.append(leaver)

    async def lose_leavers(self) -> None:
        """Some lose their connections for good: within 20 s the cluster has to end their sessions."""
        for leaver in self.leavers:
            leaver.forget_channel("goes for good")
            await leaver.drop()
            self.users.remove(leaver)

    async def finish(self) -> None:
        """Ends the load, waits for what is under way, reconnects all, compares lists, and logs out."""
        self.history.note("phase", name="settle")
        self._over.set()
        await asyncio.gather(*self._work)
        for user in self.users:
            await user.settle()
        await self._until_delivered(SETTLE_SECONDS)
        self.history.note("phase", name="reconnect")
        await asyncio.gather(*[self._reconnect(user) for user in self.users])
        await self._until_delivered(RECONNECT_SECONDS)
        await Audit(self.stack, self.history, await self.arrive("auditor", push=True)).compare(self._truth)
        self.history.note("phase", name="end")
        await asyncio.gather(*[user.depart() for user in self.users])

    async def close(self) -> None:
        for task in self._work:
            task.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)
        for user in [*self.users, *self.leavers]:
            await user.close()

    # Roles. Each logs in, returns its tasks, and ends them when the load is over.

    async def _pair(self, number: int) -> list[Awaitable]:
        """One writes to the other: half of the receivers are push clients, half poll, and every fourth reconnects now and then."""
        sender = await self.arrive(f"sender{number}", push=number % 3 != 0)
        receiver = await self.arrive(f"receiver{number}", push=number % 2 == 0)
        works = [self._repeat(SEND_EVERY, lambda n: sender.later(sender.write(receiver.account, n)))]
        if number % 4 == 3:
            works.append(self._flicker(receiver))
        return works

    async def _quiet_pair(self, number: int) -> list[Awaitable]:
        """Stops writing when the fault is over, so that a message that is stuck is not freed by a later one."""
        sender = await self.arrive(f"quiet{number}", push=number % 2 == 0)
        receiver = await self.arrive(f"hearer{number}", push=number % 2 == 1)

        def write(n: int) -> None:
            if not self.hushed:
                sender.later(sender.write(receiver.account, n))

        return [self._repeat(1, write)]

    async def _flicker(self, user: User) -> None:
        while not await self._pause(random.uniform(3, 6)):
            if user.up.is_set():
                await user.drop()
                await user.return_(at=user.at + 1)

    async def _stayer(self, room: int, number: int) -> list[Awaitable]:
        """Stays in its room from the beginning to the end; some send messages there; one sets an attribute of the channel."""
        user = await self.arrive(f"stayer{room}x{number}", push=number % 3 != 1)
        if number % 3 == 2:
            await user.act("set", "user_set_attr", {"owner": user.account, "name": "_conn_timeout", "n": 20},
                           name="_conn_timeout", value="20")
        channel = self._room(room)
        while not await user.join(channel):
            await before_next_try(0.2)
        works = []
        if number < SPEAKERS:
            works.append(self._repeat(SPEAK_EVERY, lambda n: user.later(user.speak(channel, n, stays=True))))
        if number == SPEAKERS:
            works.append(self._one_by_one(2 * SET_EVERY, lambda n: user.act(
                "set", "channel_set_attr", {"owner": channel, "name": "topic", "n": n}, channel=channel, name="topic",
                value=f"{n} {BODY}{PAD}")))
        return works

    async def _wanderer(self, number: int) -> list[Awaitable]:
        """Goes from room to room and says something in each."""
        user = await self.arrive(f"wanderer{number}", push=number % 2 == 0)
        said = itertools.count(1)

        async def wander(_: int) -> None:
            if await user.join(self._room(random.randrange(ROOMS))):
                await user.speak(user.channel, next(said))
                await self._pause(random.uniform(1, 3))
            if user.channel and random.random() < 0.5:
                await user.quit()

        return [self._one_by_one(0.3, wander)]

    async def _writer(self, number: int) -> list[Awaitable]:
        """Writes its own attribute, which another user reads. Changes the gateway when its own does not answer."""
        writer = await self.arrive(f"writer{number}", push=True, patience=7)
        reader = await self.arrive(f"reader{number}", push=False)

        async def write(n: int) -> None:
            await writer.act("set", "user_set_attr", {"owner": writer.account, "name": "mood", "n": n}, name="mood",
                             value=f"{n} {BODY}{PAD}")

        async def read(_: int) -> None:
            notes = {"owner": writer.account, "name": "mood"}
            reply = await reader.act("get", "user_get_attr", notes, account=writer.account, name="mood")
            if reply:
                self.history.records[-1]["n"] = int((reply.data.get("value") or "0").split(" ", 1)[0])

        return [self._one_by_one(SET_EVERY, write), self._one_by_one(READ_EVERY, read)]

    async def _caller(self, number: int) -> list[Awaitable]:
        """Calls another user repeatedly, who alternately accepts and refuses."""
        caller = await self.arrive(f"caller{number}", push=number % 2 == 0)
        callee = await self.arrive(f"callee{number}", push=number % 2 == 1)
        states: dict[str, list[str]] = {}
        changed = asyncio.Event()

        def heard(verb: str, call: dict) -> None:
            states.setdefault(call["channel"], []).append(verb)
            changed.set()

        async def answer(call: dict) -> None:
            refuses = hash(call["channel"]) % 3 == 0
            for verb in ("invite_ack", "invite_refuse" if refuses else "invite_accept"):
                await self._call_act(callee, verb, call["channel"], caller.account)

        caller.on_call = heard
        callee.on_call = lambda verb, call: callee.later(answer(call)) if verb == "invite" else None

        async def ring(n: int) -> None:
            call = f"call-{self.run}-{number}-{n}"
            if not caller.up.is_set():
                return
            # Without an answer it may have begun all the same: the caller goes on, and ends it.
            await self._call_act(caller, "invite", call, callee.account)
            deadline = now() + RING_SECONDS
            ends = {"invite_refuse", "invite_failed", "invite_bye"}
            while now() < deadline and not {"invite_accept", *ends} & set(states.get(call, [])):
                changed.clear()
                try:
                    await asyncio.wait_for(changed.wait(), 1)
                except TimeoutError:
                    pass
            if not ends & set(states.get(call, [])):
                await self._pause(0.5)
                for _ in range(20):
                    reply = await self._call_act(caller, "invite_bye", call, callee.account)
                    if reply and (reply.ok or reply.data.get("reason") not in TRY_AGAIN):
                        break
                    await before_next_try(1)

        return [self._one_by_one(1, ring)]

    async def _call_act(self, user: User, verb: str, call: str, peer: str):
        return await user.act(verb, f"voip_{verb}", {"call": call, "peer": peer}, channelName=call, peer=peer, extra="")

    async def _traveller(self, number: int) -> list[Awaitable]:
        """Logs in and out, or loses its connection and resumes elsewhere."""
        user = await self.arrive(f"traveller{number}", push=number % 2 == 0)

        async def travel(n: int) -> None:
            if n % 3:
                await user.drop()
                await self._pause(random.uniform(0, 2))
                await user.return_(at=next(self._turn))
                return
            await user.depart()
            while True:
                try:
                    await user.arrive()
                    return
                except BROKEN:
                    user.at += 1
                    await before_next_try(0.5)

        return [self._one_by_one(1.5, travel)]

    async def _twin(self, number: int) -> list[Awaitable]:
        """Logs in a second time on another gateway: the first connection has to end. The first goes on sending until then."""
        sink = await self.arrive(f"sink{number}", push=True)
        present = [await self.arrive(f"twin{number}", push=False)]
        account = present[0].account

        async def again(_: int) -> None:
            old = present[0]
            old.returns = False
            twin = User(self.history, self.stack.open_app, account, self.stack.gateways, push=False, at=old.at + 1)
            while True:
                try:
                    await twin.arrive()
                    break
                except BROKEN:
                    twin.at += 1
                    await before_next_try(0.5)
            present[0] = twin
            self.users.append(twin)
            while old.up.is_set() and not self._over.is_set():
                await old.act("poke", "user_sendmsg", {"to": sink.account}, peer=sink.account, flag="v1:E:60", t="instant",
                              content=f"poke {BODY}")
                await before_next_try(0.2)
            if not old.up.is_set():
                self.users.remove(old)

        return [self._one_by_one(3, again)]

    # Kinds of tasks

    async def _cast(self, role: Callable[..., Awaitable[list[Awaitable]]], *arguments: int) -> None:
        self._work += [asyncio.create_task(work) for work in await role(*arguments)]

    async def arrive(self, name: str, **options) -> User:
        user = User(self.history, self.stack.open_app, f"{name}-{self.run}", self.stack.gateways, at=next(self._turn), **options)
        await user.arrive()
        self.users.append(user)
        return user

    async def _repeat(self, seconds: float, begin: Callable[[int], object]) -> None:
        """Starts an act at a steady rate, without waiting for its end."""
        await let_pass(random.uniform(0, seconds), "so that not everybody acts at the same moment")
        for n in itertools.count(1):
            begin(n)
            if await self._pause(seconds):
                return

    async def _one_by_one(self, seconds: float, act: Callable[[int], Awaitable]) -> None:
        """Starts an act when the previous one has ended."""
        await let_pass(random.uniform(0, seconds), "so that not everybody acts at the same moment")
        for n in itertools.count(1):
            await act(n)
            if await self._pause(seconds):
                return

    async def _pause(self, seconds: float) -> bool:
        """Waits; returns whether the load is over."""
        try:
            await asyncio.wait_for(self._over.wait(), seconds)
        except TimeoutError:
            pass
        return self._over.is_set()

    async def _watch_lag(self) -> None:
        while not self._over.is_set():
            before = now()
            await let_pass(0.1, "how late this task goes on shows how busy the machine is")
            if (lag := now() - before - 0.1) > 0.3:
                self.history.note("lag", seconds=lag)

    def _room(self, number: int) -> str:
        return f"room{number % ROOMS}-{self.run}"

    def _scaled(self, count: int) -> int:
        return max(1, round(count * self.size))

    # The end

    async def _reconnect(self, user: User) -> None:
        if user.up.is_set() and user.returns:
            await user.drop()
            await user.return_(at=user.at + 1)

    async def _until_delivered(self, seconds: float) -> None:
        deadline = now() + seconds
        while undelivered(self.history.records) and now() < deadline:
            await before_next_try(1)

    def _truth(self) -> Truth:
        live = [user for user in self.users if user.up.is_set() and user.returns]
        rooms = {self._room(room): [] for room in range(ROOMS)}
        for user in live:
            if user.channel in rooms:
                rooms[user.channel].append(user.account)
        return Truth(self.run, [user.account for user in live], rooms, [leaver.account for leaver in self.leavers])
