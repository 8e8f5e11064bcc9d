"""The breakages, and a run of one under load."""

import asyncio
import itertools
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from checker import Verdict, check
from history import now
from population import Population
from stack_control import Stack
from user import User
from waiting import let_pass

# Processes of each kind: several of those that breakages kill, so that others can take over.
COUNTS = {"gateways": 3, "presence": 2, "channel_state": 2, "invitation": 2}
# Seconds of load until some users leave, and from then until the fault.
LEAVE_AFTER, BREAK_AFTER = 4, 6
BACK_AT_ONCE = 2_000
# In a cluster an event ends the connection of a user who has logged in elsewhere: Docs/decisions/0021-senders-in-a-cluster.md.
LAPSE_SECONDS = 3


class Lab:
    """A stack, its users, and the present fault."""

    def __init__(self, stack: Stack, population: Population):
        self.stack, self.population = stack, population
        self.fault: dict = {}

    @property
    def redis(self) -> list[str]:
        """All servers of Redis."""
        return self.stack.redis_servers

    @property
    def all_redis(self) -> list[str]:
        """The Sentinels, where there are some, and all servers of Redis: to freeze them all without a failover in between."""
        return [node["name"] for node in reversed(self.stack.endpoints["redis"]["nodes"])]

    async def do(self, *command: str) -> None:
        """One command of `Scripts/stack`."""
        await asyncio.to_thread(self.stack.run, *command)

    async def restart(self, *names: str, away: float = 1) -> None:
        """Kills members, and starts them after a while."""
        for name in names:
            await self.do("kill", name)
        await let_pass(away, "the members are away for so long")
        for name in names:
            await self.do("start", name)

    async def restart_around(self, name: str, other: Awaitable[None]) -> None:
        """A member is dead while something else happens. (Starting it needs healthy stores.)"""
        await self.do("kill", name)
        await other
        await self.do("start", name)

    async def pause(self, *names: str, seconds: float) -> None:
        """Freezes members for a while."""
        self.fault["frozen"] = sorted({*self.fault.get("frozen", ()), *names})
        for name in names:
            await self.do("freeze", name)
        await let_pass(seconds, "the members are frozen for so long")
        for name in names:
            await self.do("thaw", name)

    async def cut_off(self, *names: str, seconds: float, reset: bool = False) -> None:
        """Cuts members off from the stores for a while."""
        for name in names:
            await self.do("partition", name, *(["--reset"] if reset else []))
        await let_pass(seconds, "the members are cut off for so long")
        for name in names:
            await self.do("heal", name)

    async def turn_back(self, name: str, seconds: float) -> None:
        """Puts a store back to where it was."""
        await self.do("snapshot", name)
        # What was written while the copy was made may be in it or not.
        started = now()
        await let_pass(seconds, "the store is to be turned back by so much")
        await self._forget(started - 3, "rollback", name)

    async def empty(self) -> None:
        await self._forget(0, "empty", "redis")

    async def _forget(self, since: float, *command: str) -> None:
        # Forgives everything until the command has ended: when the store died in that time is unknown.
        self.fault["forgive"] = [since, now() + 1]
        await self.do(*command)
        self.fault["forgive"][1] = now()

    async def full(self, seconds: float) -> None:
        await self.do("fill", "redis")
        await let_pass(seconds, "Redis is full for so long")
        await self.do("unfill", "redis")

    async def full_disk(self, seconds: float) -> None:
        """PostgreSQL's disk is full while some users keep storing more."""
        hoarders = [await self.population.arrive(f"hoarder{number}", push=True) for number in range(3)]
        await self.do("fill", "postgres")
        until = now() + seconds
        refused = 0
        for n in itertools.count():
            replies = await asyncio.gather(*[
                hoarder.act("set", "user_set_attr", {"owner": hoarder.account, "name": f"n{n % 90}", "n": n}, name=f"n{n % 90}",
                            value=f"{n} {os.urandom(4000).hex()}"[:8000]) for hoarder in hoarders])
            refused += sum(reply is None or not reply.ok for reply in replies)
            await let_pass(0.1, "the hoarders stay below their limit of changes")
            if now() > until:
                break
        await self.do("unfill", "postgres")
        assert refused, "the disk was never full"

    async def cut_clients(self, *kinds: str, times: int, every: float = 1.5) -> None:
        """Lets Redis close its clients' connections."""
        for _ in range(times):
            for kind in kinds:
                await asyncio.to_thread(self.stack.redis_everywhere, "CLIENT", "KILL", "TYPE", kind)
            await let_pass(every, "clients come back before the next cut")

    async def often(self, *names: str, times: int, seconds: float, every: float) -> None:
        for _ in range(times):
            await self.pause(*names, seconds=seconds)
            await let_pass(every, "the members work before the next pause")

    async def roll(self) -> None:
        """Drains and starts every process of the cluster's own, one after the other."""
        for name in [name for name in self.stack.pids if not name.startswith(("redis", "sentinel", "postgres"))]:
            await self.do("drain", name)
            await self.do("start", name)

    async def storm(self) -> None:
        """Many clients lose their connections in one moment, and come back at once."""
        crowd = [
            User(self.population.history, self.stack.open_app, f"crowd{number}-{self.population.run}", self.stack.gateways, push=True,
                 at=number)
            for number in range(BACK_AT_ONCE)]
        self.fault["t0"] = now()
        for start in range(0, len(crowd), 50):
            await asyncio.gather(*[user.arrive() for user in crowd[start:start + 50]])
        self.population.users += crowd
        await asyncio.gather(*[user.drop() for user in crowd])
        self.fault["t1"] = now()
        await asyncio.gather(*[user.return_(at=user.at + 1) for user in crowd])
        print(f"{len(crowd)} clients were back after {now() - self.fault['t1']:.1f} s")


@dataclass(frozen=True)
class Breakage:
    """One row of the report."""

    name: str
    act: Callable[[Lab], Awaitable[None]]
    options: tuple[str, ...] = ()
    """Further options of `Scripts/stack up`."""
    short: bool = False
    """Whether `make test` runs it, and not only `make faults`."""
    after: float = 12
    """Seconds of load when the fault is over."""
    single_redis: str = ""
    """Why it is for a single Redis server only; empty when it is not."""


PROXIES = ("--proxies",)
NEEDS_PROXIES = "the stack puts proxies in front of a single server only"
ONLY_STORE = "the stack turns back, empties and fills a single server only"
SERVICES = ("presence", "channel-state", "invitation")

BREAKAGES = [
    Breakage("nothing", lambda lab: let_pass(1, "nothing breaks")),
    *[Breakage(f"{kind} killed", lambda lab, name=f"{kind}#1": lab.restart(name)) for kind in ("gateway", *SERVICES)],
    *[Breakage(f"every {kind} killed", lambda lab, kind=kind: lab.restart(f"{kind}#1", f"{kind}#2", away=3)) for kind in SERVICES],
    Breakage("gateway frozen 15 s", lambda lab: lab.pause("gateway#1", seconds=15), short=True),
    *[Breakage(f"{kind} frozen 12 s", lambda lab, name=f"{kind}#1": lab.pause(name, seconds=12)) for kind in SERVICES],
    Breakage("redis killed", lambda lab: lab.restart(*lab.redis)),
    Breakage("redis away 25 s", lambda lab: lab.restart(*lab.redis, away=25), after=20),
    Breakage("redis turned back 2 s", lambda lab: lab.turn_back("redis", 2), short=True, single_redis=ONLY_STORE),
    Breakage("redis empty", lambda lab: lab.empty(), after=20, single_redis=ONLY_STORE),
    Breakage("redis full 15 s", lambda lab: lab.full(15), single_redis=ONLY_STORE),
    Breakage("redis frozen 20 s", lambda lab: lab.pause(*lab.all_redis, seconds=20), after=20),
    Breakage("redis frozen often", lambda lab: lab.often(*lab.all_redis, times=8, seconds=1.5, every=1.5)),
    Breakage("redis: normal clients cut", lambda lab: lab.cut_clients("normal", times=5)),
    Breakage("redis: subscribers cut", lambda lab: lab.cut_clients("pubsub", times=5)),
    Breakage("redis: all clients cut", lambda lab: lab.cut_clients("normal", "pubsub", times=5)),
    Breakage("postgres killed 10 s", lambda lab: lab.restart("postgres", away=10)),
    Breakage("postgres frozen 15 s", lambda lab: lab.pause("postgres", seconds=15)),
    Breakage("postgres' disk full 15 s", lambda lab: lab.full_disk(15), options=("--postgres-disk", "160")),
    Breakage("postgres turned back 2 s", lambda lab: lab.turn_back("postgres", 2)),
    Breakage("gateway cut off, silent 15 s", lambda lab: lab.cut_off("gateway#1", seconds=15), options=PROXIES,
             single_redis=NEEDS_PROXIES),
    Breakage("gateway cut off, reset 15 s", lambda lab: lab.cut_off("gateway#1", seconds=15, reset=True), options=PROXIES,
             single_redis=NEEDS_PROXIES),
    *[Breakage(f"{kind} cut off, silent 12 s", lambda lab, name=f"{kind}#1": lab.cut_off(name, seconds=12), options=PROXIES,
               single_redis=NEEDS_PROXIES)
      for kind in SERVICES],
    *[Breakage(f"every {kind} cut off, reset 8 s",
               lambda lab, kind=kind: lab.cut_off(f"{kind}#1", f"{kind}#2", seconds=8, reset=True),
               options=PROXIES, single_redis=NEEDS_PROXIES)
      for kind in SERVICES],
    Breakage("gateway and redis killed", lambda lab: lab.restart_around("gateway#1", lab.restart(*lab.redis))),
    Breakage("presence killed, redis frozen 12 s",
             lambda lab: lab.restart_around("presence#1", lab.pause(*lab.all_redis, seconds=12))),
    Breakage("gateway frozen 15 s, postgres killed",
             lambda lab: lab.restart_around("postgres", lab.pause("gateway#2", seconds=15))),
    Breakage("rolling restart", lambda lab: lab.roll()),
    Breakage("2,000 clients back at once", lambda lab: lab.storm()),
]


async def run(breakage: Breakage, stack: Stack, *, size: float = 1) -> tuple[Verdict, Population]:
    """One run: calm, the fault, calm again, and the judgement."""
    population = Population(stack, size=size)
    try:
        await population.settle_in()
        await let_pass(LEAVE_AFTER, "the load runs before some leave")
        await population.lose_leavers()
        await let_pass(BREAK_AFTER, "the load runs before something breaks")
        lab = Lab(stack, population)
        lab.fault = population.history.note("fault", name=breakage.name, t0=now(), t1=float("inf"))
        await breakage.act(lab)
        if lab.fault["t1"] == float("inf"):
            lab.fault["t1"] = now()
        population.hushed = True
        await let_pass(breakage.after, "the load goes on when the fault is over")
        await population.finish()
    finally:
        await population.close()
    return check(population.history.records), population
