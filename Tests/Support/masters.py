"""The masters of a Redis Cluster: what belongs to which of them, and what processes say of them."""

import asyncio
import binascii
import json
import urllib.error

from stack_control import Stack, unique
from web import fetch

SLOTS, MASTERS, BUCKETS = 16_384, 3, 4096
# A gateway that is started so often has had its first lease at each master, but for one in 200,000 times.
STARTS = 30


def slot_of(name: str, *, is_user: bool) -> int:
    """The slot of what has this name in Redis' keys."""
    crc = binascii.crc_hqx(name.encode(), 0)
    return crc % BUCKETS * (SLOTS // BUCKETS) if is_user else crc % SLOTS


def master_of(name: str, *, is_user: bool) -> int:
    """The master, counted from 0, of what has this name in Redis' keys."""
    return slot_of(name, is_user=is_user) * MASTERS // SLOTS


def named(stack: Stack, kind: str, master: int) -> str:
    """A new account ("u") or channel ("c") of a master."""
    first, end = (-(-number * SLOTS // MASTERS) for number in (master, master + 1))
    return named_within(stack, kind, range(first, end))


def named_within(stack: Stack, kind: str, slots: range) -> str:
    """A new account ("u") or channel ("c") whose slot is one of these."""
    while True:
        name = unique(kind)
        if slot_of(f"a:{stack.open_app.id}:{kind}:{name}", is_user=kind == "u") in slots:
            return name


def readiness(base: str, check: str = "redis") -> tuple[int, str]:
    """The status of a process, and the outcome of one of its checks."""
    try:
        with fetch(f"{base}/readyz") as answer:
            return answer.status, json.load(answer)["checks"][check]
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, refusal.read().decode()


async def all_say(stack: Stack, said: str) -> bool:
    """Whether every process says this of Redis; each must be ready."""
    for member in stack.endpoints["gateways"] + stack.endpoints["services"]:
        status, redis = await asyncio.to_thread(readiness, member["http"])
        assert status == 200, f"{member['name']}: {redis}"
        if redis != said:
            return False
    return True


def gateway_id(stack: Stack, name: str) -> str:
    """The present id of a gateway with one event loop."""
    accepting = [json.loads(line) for line in stack.run("logs", name).stdout.splitlines() if '"accepting clients"' in line]
    return accepting[-1]["metadata"]["gateway"]


def first_lease(stack: Stack, name: str) -> int:
    """The master, counted from 0, of a gateway's first lease."""
    return binascii.crc_hqx(f"g:{gateway_id(stack, name)}".encode(), 0) % SLOTS * MASTERS // SLOTS


def with_first_lease_at(stack: Stack, name: str, master: int) -> None:
    """Starts a gateway again, each time with a new id, until its first lease is at the master."""
    for _ in range(STARTS):
        if first_lease(stack, name) == master:
            return
        stack.drain(name)
        stack.start(name)
    raise AssertionError(f"no first lease at master {master} in {STARTS} starts")
