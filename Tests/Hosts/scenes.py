"""What happens between hosts, under load: the network's failures, and those of processes where each has a host of its own."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from breakages import LAPSE_SECONDS, Lab
from history import now
from masters import with_first_lease_at
from stack_control import Stack
from waiting import eventually, let_pass

CLUSTER, GATEWAYS = "cluster", 3
# In a cluster, masters first: redis#4 is the replica of redis#1.
MASTERS = ("redis#1", "redis#2", "redis#3")
REPLICA_OF_FIRST = "redis#4"
# A master that is cut off takes writes until it notices that it is alone.
MASTER_ALONE_SECONDS = 3
FAILOVER_SECONDS = 20

# For so long a gateway sends messages to a silent master until it gives the connection up.
UNANSWERED_SECONDS = 6


class Network:
    """What scenes do with a stack's network."""

    def __init__(self, lab: Lab, redis: str):
        self.lab = lab
        if redis == CLUSTER:
            lab.fault["lapse"] = LAPSE_SECONDS

    async def cut(self, name: str, to: str | None = None, *, one_way: bool = False, seconds: float) -> None:
        """Cuts hosts off for a while."""
        if "lapse" in self.lab.fault and seconds < UNANSWERED_SECONDS:
            # A gateway hears again over a link that outlives the cut when TCP tries again. It waits twice as long each time: so, after
            # the cut, about as long as that lasted.
            self.lab.fault["lapse"] = max(LAPSE_SECONDS, seconds + 1)
        route = [*(["--to", to] if to else []), *(["--one-way"] if one_way else [])]
        if to == "redis":
            self.lab.fault["cut"] = [name]
        await self.lab.do("partition", name, *route)
        await let_pass(seconds, "the hosts are cut off for so long")
        await self.lab.do("heal", name, *route)

    async def disturb(self, verb: str, name: str, value: float, to: str, seconds: float) -> None:
        """Delays or loses packets both ways for a while."""
        await self.lab.do(verb, name, str(value), "--to", to)
        await let_pass(seconds, "the packets are disturbed for so long")
        await self.lab.do("heal", name, "--to", to)

    async def minority(self, seconds: float) -> None:
        """One master and two gateways see each other and their clients, but not the others."""
        self.lab.fault["forgive"] = [now() - 1, now() + MASTER_ALONE_SECONDS + 2]
        inside = ("redis#1", "gateway#1", "gateway#2")
        await asyncio.gather(*[self.lab.do("partition", name) for name in inside])
        for one, other in zip(inside, inside[1:] + inside[:1], strict=True):
            await self.lab.do("heal", one, "--to", other)
        await let_pass(seconds, "they are cut off for so long")
        await self.lab.do("heal", "all")

    async def late_replica(self) -> None:
        """A master dies whose replica lacks the last half second."""
        await self.lab.do("delay", "redis#1", "500", "--to", REPLICA_OF_FIRST)
        await let_pass(5, "the replica falls behind")
        self.lab.fault["forgive"] = [now() - 2, now() + 5]
        # The system would go on sending what the dead process has written.
        await self.lab.do("partition", "redis#1", "--to", REPLICA_OF_FIRST)
        await self.lab.do("kill", "redis#1")
        self.lab.fault["forgive"][1] = now()
        await self._is_master(REPLICA_OF_FIRST)
        await self.lab.do("heal", "all")
        await let_pass(5, "the new master works alone")
        await self.lab.do("start", "redis#1")

    async def frozen_master(self, seconds: float) -> None:
        """When it goes on, it carries out what waits in its sockets, before it hears that it was replaced."""
        self.lab.fault["twice"] = [now() - 1, now() + UNANSWERED_SECONDS]
        await self.lab.pause("redis#1", seconds=seconds)

    async def killed_master(self) -> None:
        await self.lab.do("kill", "redis#1")
        await self._is_master(REPLICA_OF_FIRST)
        await let_pass(5, "the new master works alone")
        await self.lab.do("start", "redis#1")

    async def silent_primary(self) -> None:
        """PostgreSQL's primary answers nobody; the standby takes over, and the old primary follows it."""
        await self.lab.do("partition", "postgres#1")
        await let_pass(5, "until somebody notices")
        await self.lab.do("promote", "postgres#2")
        await let_pass(10, "the new primary works alone")
        # It would otherwise take writes of those who still know it.
        await self.lab.do("kill", "postgres#1")
        await self.lab.do("heal", "postgres#1")
        await self.lab.do("start", "postgres#1")

    async def _is_master(self, name: str) -> None:
        def says_so() -> bool:
            return self.lab.stack.redis("ROLE", node=name).startswith("master")

        await eventually(lambda: asyncio.to_thread(says_so), f"{name} is a master", FAILOVER_SECONDS)


@dataclass(frozen=True)
class Scene:
    """One row of the report."""

    name: str
    act: Callable[[Network], Awaitable[None]]
    redis: str = "single"
    options: tuple[str, ...] = ()
    """Further options of `Scripts/stack up`."""
    short: bool = False
    """Whether `make test` runs it, and not only `make hosts`."""
    after: float = 12
    """Seconds of load when the fault is over."""
    troubled: tuple[str, ...] = MASTERS
    """The masters of a cluster whose users may wait."""
    prepare: Callable[[Stack], None] = lambda stack: None
    """What is done before there are users."""


STANDBY = ("--postgres-standby",)


def _for_both(name: str, act: Callable[[Network], Awaitable[None]], **more: object) -> list[Scene]:
    return [Scene(name, act, **more), Scene(name, act, CLUSTER, **more)]


def _without(seconds: int) -> list[Scene]:
    """A gateway reaches no server of Redis for so long, or not one of its masters."""
    return [
        Scene(f"gateway without redis {seconds} s", lambda network: network.cut("gateway#1", "redis", seconds=seconds), CLUSTER, after=15),
        Scene(f"gateway without one master {seconds} s",
              lambda network: network.cut("gateway#1", "redis#1", seconds=seconds), CLUSTER, troubled=MASTERS[:1],
              # With it there, one lease would decide on the gateway's other users too, if it were alone.
              prepare=lambda stack: with_first_lease_at(stack, "gateway#1", 0))]


# What a frozen process does to a single Redis is tested in Tests/Faults.
SCENES = [
    Scene("gateway gets no replies 12 s", lambda network: network.cut("redis", "gateway#1", one_way=True, seconds=12), CLUSTER,
          short=True, after=6),
    Scene("gateway gets no replies 12 s", lambda network: network.cut("redis", "gateway#1", one_way=True, seconds=12)),
    Scene("gateway without redis 12 s", lambda network: network.cut("gateway#1", "redis", seconds=12), after=15),
    *_without(3), *_without(12), *_without(60),
    Scene("a master and two gateways alone 12 s", lambda network: network.minority(12), CLUSTER, after=20),
    Scene("master killed, replica 500 ms behind", lambda network: network.late_replica(), CLUSTER, after=15, troubled=MASTERS[:1]),
    Scene("master killed", lambda network: network.killed_master(), CLUSTER, troubled=MASTERS[:1]),
    Scene("master frozen 12 s", lambda network: network.frozen_master(12), CLUSTER, after=20, troubled=MASTERS[:1]),
    *[Scene(f"{kind} frozen 12 s", lambda network, name=f"{kind}#1": network.lab.pause(name, seconds=12), CLUSTER)
      for kind in ("gateway", "presence", "channel-state", "invitation")],
    *_for_both("50 ms between gateways and redis", lambda network: network.disturb("delay", "gateway", 50, "redis", 30)),
    *_for_both("1 % lost everywhere", lambda network: network.disturb("loss", "all", 1, "all", 30)),
    Scene("postgres silent 15 s", lambda network: network.cut("postgres", seconds=15)),
    Scene("postgres' primary silent, standby promoted", lambda network: network.silent_primary(), CLUSTER, STANDBY),
]
