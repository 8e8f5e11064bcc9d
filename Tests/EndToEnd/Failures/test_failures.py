"""kill -9 of a service under load: every command is answered in time, and none is applied twice."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator

import pytest
from answers import Reply
from fixtures import running
from signaling import Client
from stack_control import Stack, unique
from waiting import before_next_try, eventually, let_pass, paced

COMMANDS_PER_SECOND = 200
LOAD_SECONDS = 12
KILL_AFTER = 3
# What the gateways give a command, and what a loaded test machine may add to it.
DEADLINE, MARGIN = 8, 2


@pytest.fixture(scope="module")
def pairs(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """Two of everything that is killed here."""
    with running(request, gateways=2, presence=2, channel_state=2, invitation=2) as stack:
        yield stack


class Load:
    """Issues commands at a steady rate, whatever happens to the answers."""

    def __init__(self) -> None:
        self.replies: list[tuple[str, Reply]] = []
        self.ok: Counter = Counter()
        """How many commands succeeded, by the key under which they are counted."""
        self.unknown: Counter = Counter()
        """How many ended with `timeout`, so that nobody knows whether they took effect."""
        self.issued = 0
        self._tasks: list[asyncio.Task] = []

    def issue(self, key: object, command: Awaitable[Reply]) -> asyncio.Task:
        """Sends one command without waiting for its answer."""
        async def follow() -> Reply:
            reply = await command
            self.replies.append((str(key), reply))
            (self.ok if reply.ok else self.unknown)[key] += 1
            return reply

        self.issued += 1
        task = asyncio.create_task(follow())
        self._tasks.append(task)
        return task

    async def finish(self) -> None:
        """Waits for all answers and checks that each is an answer or a timeout, in time."""
        await asyncio.gather(*self._tasks)
        slowest = max(self.replies, key=lambda entry: entry[1].seconds)
        assert slowest[1].seconds < DEADLINE + MARGIN, f"{slowest[0]} took {slowest[1].seconds:.1f} s"
        odd = Counter(reply.data["reason"] for _, reply in self.replies if not reply.ok)
        assert set(odd) <= {"timeout"}, f"failed otherwise than by timeout: {odd}"
        assert self.issued >= 0.9 * COMMANDS_PER_SECOND * LOAD_SECONDS, f"only {self.issued} commands were issued"
        # The point is that another instance takes over, not that everything times out.
        assert len(self.replies) - sum(odd.values()) >= 0.9 * self.issued, f"{odd} of {self.issued}"

    def check_counts(self, seen: Counter, what: str) -> None:
        """Each command that was answered took effect once, each that timed out once or not at all."""
        for key in self.ok.keys() | self.unknown.keys() | seen.keys():
            low, high = self.ok[key], self.ok[key] + self.unknown[key]
            assert low <= seen[key] <= high, f"{what} {key}: {low} answered, {high} issued, {seen[key]} seen"


async def steady(turn: Callable[[int], None], per_second: float) -> None:
    """Calls `turn` with 0, 1, 2... at that rate for the load's time."""
    async for number in paced(int(per_second * LOAD_SECONDS), per_second):
        turn(number)


async def kill_during(stack: Stack, name: str, *work: Awaitable[None]) -> None:
    """Runs the load, with the kill in its midst; the victim is brought back afterwards."""
    async def murder() -> None:
        await let_pass(KILL_AFTER, "the load runs before the kill")
        await asyncio.to_thread(stack.kill, name)

    await asyncio.gather(murder(), *work)


def attempt(client: Client, function: str, **arguments) -> Awaitable[Reply]:
    # Longer than the deadline, so that a late answer and a missing one can be distinguished.
    return client.attempt(function, within=3 * DEADLINE, **arguments)


@pytest.mark.parametrize("victim", ["presence#1", "presence#2"])
async def test_presence(pairs: Stack, people, victim: str):
    async with people(pairs) as cast:
        actors = await cast.login(*[f"actor{n}" for n in range(20)])
        for actor in actors:
            await actor.call("user_set_attr", name="first", value="0")
        versions = {actor: attribute_version(pairs, actor) for actor in actors}
        load = Load()

        def turn(number: int) -> None:
            actor = actors[number % len(actors)]
            if number % 10 == 9:
                load.issue("query", attempt(actor, "user_query_user_status", account=actors[0].account))
            else:
                load.issue(actor, attempt(actor, "user_set_attr", name=f"n{number}", value=str(number)))

        # Meanwhile ten users log in and out: a login that is applied twice would kick the session that it has opened.
        travellers = [cast.make(f"traveller{n}") for n in range(10)]

        async def travel(index: int) -> None:
            for _ in range(LOAD_SECONDS // 2):
                traveller = travellers[index]
                await traveller.login(pairs.gateways[index % 2])
                await traveller.logout()
                assert traveller.close_frame is None, "kicked by its own login"

        await kill_during(
            pairs, victim, steady(turn, COMMANDS_PER_SECOND), *[travel(index) for index in range(len(travellers))])
        await load.finish()
        for actor in actors:
            rows = pairs.sql(
                f"SELECT count(*) FROM user_attributes WHERE account = '{actor.account}' AND name <> 'first'")
            applied = attribute_version(pairs, actor) - versions[actor]
            assert applied == int(rows[0][0]), "a change was numbered twice"
            assert load.ok[actor] <= applied <= load.ok[actor] + load.unknown[actor]
        await asyncio.to_thread(pairs.start, victim)


def attribute_version(stack: Stack, client: Client) -> int:
    """How often the user's attributes have changed, but for a constant."""
    return int(stack.sql(f"SELECT version FROM user_attribute_versions WHERE account = '{client.account}'")[0][0])


@pytest.mark.parametrize("victim", ["channel-state#1", "channel-state#2"])
async def test_channel_state(pairs: Stack, people, victim: str):
    async with people(pairs) as cast:
        channels = [unique("room") for _ in range(4)]
        observers = await cast.login(*[f"observer{n}" for n in range(4)])
        for observer, channel in zip(observers, channels, strict=True):
            await observer.join(channel)
        actors = await cast.login(*[f"actor{n}" for n in range(20)])
        load = Load()

        def turn(number: int) -> None:
            index = number % len(actors)
            actor, channel, step = actors[index], channels[index % 4], number // len(actors) % 3
            if step == 0:
                load.issue(("channel_user_join", actor.account), attempt(actor, "channel_join", name=channel))
            elif step == 1:
                name = f"n{number}"
                load.issue(("update", name), attempt(
                    actor, "channel_set_attr", channel=channel, name=name, value=str(number)))
            else:
                load.issue(("channel_user_leave", actor.account), attempt(actor, "channel_leave", name=channel))

        await kill_during(pairs, victim, steady(turn, COMMANDS_PER_SECOND))
        await load.finish()
        for observer, channel in zip(observers, channels, strict=True):
            await observer.call("channel_set_attr", channel=channel, name="end", value="end")
        await eventually(
            lambda: all(o.events and o.events[-1].content.get("name") == "end" for o in observers), "the last event")
        seen = Counter(
            (event.content["type"], event.content["name"]) if event.type == "channel_attr_update"
            else (event.type, event.account)
            for observer in observers for event in observer.events if event.content.get("name") != "end")
        excuse_leaves_without_a_join(load, actors)
        load.check_counts(seen, "channel events")
        for channel in channels:
            rows = pairs.sql(
                "SELECT v.version - min(a.version) + 1, count(*) FROM channel_attributes a "
                f"JOIN channel_attribute_versions v USING (app, channel) WHERE channel = '{channel}' GROUP BY v.version")
            assert rows[0][0] == rows[0][1], "a change was numbered twice"
        await asyncio.to_thread(pairs.start, victim)


def excuse_leaves_without_a_join(load: Load, actors: list[Client]) -> None:
    """Counts a leave whose join timed out as unknown: if the user had not joined, its leave did nothing and has no event."""
    for actor in actors:
        leave, join = ("channel_user_leave", actor.account), ("channel_user_join", actor.account)
        moved = min(load.unknown[join], load.ok[leave])
        load.ok[leave] -= moved
        load.unknown[leave] += moved


@pytest.mark.parametrize("victim", ["invitation#1", "invitation#2"])
async def test_invitation(pairs: Stack, people, victim: str):
    async with people(pairs) as cast:
        callers = await cast.login(*[f"caller{n}" for n in range(20)], gateway=0)
        callees = await cast.login(*[f"callee{n}" for n in range(20)], gateway=1)
        load = Load()
        over = asyncio.Event()

        def turn(number: int) -> None:
            index = number % len(callers)
            channel = unique("call")
            load.issue(("invite", channel), attempt(
                callers[index], "voip_invite", channelName=channel, peer=callees[index].account, extra=""))

        reactions = [
            asyncio.create_task(refuse_all(load, callee, over)) for callee in callees]
        # Each invitation brings two more commands, by which it is answered.
        await kill_during(pairs, victim, steady(turn, COMMANDS_PER_SECOND / 3))
        await eventually(
            lambda: load.ok.total() + load.unknown.total() == load.issued and sum(
                len(callee.calls("invite")) for callee in callees) * 2 + LOAD_SECONDS * COMMANDS_PER_SECOND // 3
            <= load.issued, "all invitations were reacted to", 3 * DEADLINE)
        over.set()
        await asyncio.gather(*reactions)
        await load.finish()
        for caller, callee in zip(callers, callees, strict=True):
            await caller.tell(callee.account, "end")
            await callee.tell(caller.account, "end")
        await eventually(lambda: all(client.texts() for client in callers + callees), "the last messages")
        load.check_counts(call_events(load, callers + callees), "call events")
        await asyncio.to_thread(pairs.start, victim)


async def refuse_all(load: Load, callee: Client, over: asyncio.Event) -> None:
    """Acknowledges and refuses every invitation of a user until the load is over."""
    done = 0
    while not over.is_set():
        invitations = callee.calls("invite")
        for call in invitations[done:]:
            for verb in ("invite_ack", "invite_refuse"):
                load.issue((verb, call["channel"]), attempt(
                    callee, f"voip_{verb}", channelName=call["channel"], peer=call["peer"], extra=""))
        done = len(invitations)
        await before_next_try(0.05)


def call_events(load: Load, clients: list[Client]) -> Counter:
    """The call events of all users by verb and channel, without the ends that the service may have caused itself."""
    seen = Counter(
        (m.type.removeprefix("voip_"), m.call["channel"])
        for client in clients for m in client.messages if m.type.startswith("voip_"))
    for key in [key for key in seen if key[0] in ("invite_failed", "invite_bye")]:
        # Only calls whose acts ran into a timeout may be given up or hung up by the service.
        assert any(load.unknown[verb, key[1]] for verb in ("invite", "invite_ack", "invite_refuse")), key
        del seen[key]
    return seen
