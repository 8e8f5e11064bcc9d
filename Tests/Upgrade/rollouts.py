"""Ways to replace a cluster's processes one by one, each with the way back."""

import random
from dataclasses import dataclass
from pathlib import Path

import breakages
from breakages import LAPSE_SECONDS, Lab
from cluster_acts import kill_masters
from stack_control import BINARIES, Stack, run_program

# The processes of a cluster: those that users need, and those that tell an app's server of them.
COUNTS = {**breakages.COUNTS, "webhooks": 2}
# In the names of `Scripts/stack`, with the number of processes that the load runs with.
KINDS = {"presence": 2, "channel-state": 2, "invitation": 2, "sip-bridge": 1, "gateway": COUNTS["gateways"], "webhooks": COUNTS["webhooks"]}
RANDOM_ORDERS = 12


@dataclass(frozen=True)
class Rollout:
    """The order in which processes are replaced; for the way back it is reversed."""

    name: str
    order: tuple[str, ...]
    killed: bool = False
    """Whether a gateway is killed halfway."""
    redis_restarts: bool = False
    """Whether Redis is killed, and started again, halfway."""
    on_a_cluster: bool = False
    """Whether Redis is a cluster of three masters with a replica each."""
    fails_over: bool = False
    """Whether a master of the cluster is killed halfway, so that its replica takes over."""

    @property
    def options(self) -> list[str]:
        """Those of `Scripts/stack up`."""
        return ["--redis", "cluster", "--redis-masters", "3", "--redis-replicas", "1"] if self.on_a_cluster else []


def members(*kinds: str) -> tuple[str, ...]:
    return tuple(f"{kind}#{number}" for kind in kinds for number in range(1, KINDS[kind] + 1))


def first(kind: str) -> tuple[str, ...]:
    """All processes of a kind, before those of the other kinds."""
    return members(kind, *(other for other in KINDS if other != kind))


def shuffled(seed: int) -> tuple[str, ...]:
    order = list(members(*KINDS))
    random.Random(seed).shuffle(order)
    return tuple(order)


# The way back makes the first kind the last, so that each kind is first and last, in both directions.
ROLLOUTS = [
    *[Rollout(f"{kind} first", first(kind)) for kind in KINDS],
    *[Rollout(f"order {seed}", shuffled(seed)) for seed in range(RANDOM_ORDERS - 2)],
    Rollout("a gateway killed halfway", shuffled(RANDOM_ORDERS - 2), killed=True),
    Rollout("redis killed halfway", shuffled(RANDOM_ORDERS - 1), redis_restarts=True),
    Rollout("on a cluster", shuffled(RANDOM_ORDERS), on_a_cluster=True),
    Rollout("on a cluster, a master killed halfway", shuffled(RANDOM_ORDERS + 1), on_a_cluster=True, fails_over=True),
]


@dataclass(frozen=True)
class Releases:
    """Where the programs of two successive releases are."""

    old: Path
    new: Path

    @staticmethod
    def same() -> "Releases":
        """One release in both roles: a rolling restart."""
        return Releases(BINARIES, BINARIES)

    @property
    def counts(self) -> dict[str, int]:
        """How many processes of each kind run, in the names of `Stack.up`: of those that the old release has."""
        return {name: count for name, count in COUNTS.items() if name != "webhooks" or self.has_webhooks}

    @property
    def has_webhooks(self) -> bool:
        return (self.old / "webhooks").exists()


async def replace(lab: Lab, order: tuple[str, ...], programs: Path, rollout: Rollout) -> None:
    """Drains processes one by one, and starts those of another release in their place."""
    there = lab.stack.pids
    running = [name for name in order if name in there]
    for number, name in enumerate(running):
        if number == len(running) // 2:
            await interfere(lab, rollout)
        await lab.do("drain", name)
        await lab.do("start", name, "--programs", str(programs))


async def interfere(lab: Lab, rollout: Rollout) -> None:
    if rollout.killed:
        await lab.restart("gateway#1")
    if rollout.redis_restarts:
        await lab.restart(*lab.redis)
    if rollout.fails_over:
        # On the way back it is a replica, which is left alone.
        lab.fault["deaf"] += [[failure.begun, failure.healed] for failure in await kill_masters(lab, ["redis#1"])]


def control(stack: Stack, programs: Path, *arguments: str) -> None:
    """Runs `heliographctl` of a release."""
    done = run_program(
        str(programs / "heliographctl"), *arguments, HELIOGRAPH_POSTGRES_URL=stack.endpoints["postgres"]["url"],
        HELIOGRAPH_REDIS_URL=stack.endpoints["redis"]["url"])
    assert done.returncode == 0, done.stderr


def migrate(stack: Stack, programs: Path) -> None:
    """Expands the database, as before a release's processes start."""
    control(stack, programs, "migrate")


async def forth_and_back(lab: Lab, rollout: Rollout, releases: Releases) -> None:
    if rollout.on_a_cluster:
        lab.fault |= {"lapse": LAPSE_SECONDS, "deaf": []}
    migrate(lab.stack, releases.new)
    await replace(lab, rollout.order, releases.new, rollout)
    await replace(lab, rollout.order[::-1], releases.old, rollout)
