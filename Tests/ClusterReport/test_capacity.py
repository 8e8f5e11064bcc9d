"""Point 3: what messages cost Redis on one server and on the masters of a cluster. Point 12: what an idle cluster costs."""

import asyncio

import pytest
from bench.command import build_tools
from bench.load import Load
from bench.scenarios import scaling
from breakages import COUNTS
from pair_load import RunningStack
from redis_nodes import RedisNodes
from sheet import Sheet
from stack_control import Stack
from waiting import let_pass

SECONDS = 6
# Half of what as many single servers would carry.
CAPACITY = {"3": 1.8, "6": 3.0}
BUSIEST, HOTTEST = 1.15, 0.05
IDLE_USERS, IDLE_SECONDS = 6_000, 10
IDLE_PERCENT = 1


@pytest.fixture(scope="module", autouse=True)
def tools() -> None:
    build_tools()


@pytest.mark.long
def test_masters_share_the_messages():
    found = scaling.scaling(SECONDS)
    with Sheet(3) as sheet:
        for layout, cost in found["messages"].items():
            name = layout_name(layout)
            acts = found["acts"][layout]
            sheet.note(f"{name}: us of Redis per user message, login, join + leave", ", ".join(
                str(one["us"]) for one in (cost, acts["login"], acts["join_and_leave"])))
            sheet.none(f"{name}: runs in which messages were lost, out of order or refused", int(not cost["whole"]))
            if layout in CAPACITY:
                sheet.at_least(
                    f"{name}: user messages until the busiest server is full / those of one Redis", found["capacity"][layout],
                    CAPACITY[layout])
                sheet.at_most(f"{name}: busiest server / mean, user messages", cost["busiest_to_mean"], BUSIEST)
                key, share = cost["hottest_key"]
                sheet.at_most(f"{name}: share of commands that name one key ({key})", share, HOTTEST)


def layout_name(layout: str) -> str:
    return "one Redis" if layout == scaling.SINGLE else f"{layout} master{'s' if layout != '1' else ''}"


async def idle_percent(nodes: RedisNodes) -> dict[str, float]:
    """Percent of a core that each server takes."""
    before = nodes.cpu_seconds()
    await let_pass(IDLE_SECONDS, "the idle cluster's CPU time is counted")
    return {name: (used - before[name]) / IDLE_SECONDS * 100 for name, used in nodes.cpu_seconds().items()}


@pytest.mark.long
async def test_an_idle_cluster(make_stack):
    twice = COUNTS | {"gateways": 1}
    stack: Stack = make_stack("--unlimited", "--redis", "cluster", "--redis-masters", "3", "--redis-replicas", "0", **twice)
    nodes = RedisNodes(stack)
    await let_pass(5, "the processes have started")
    empty = await idle_percent(nodes)
    with await asyncio.to_thread(
        Load, RunningStack(stack), "idle", "--members", IDLE_USERS, "--channels", IDLE_USERS // 20, "--push",
    ) as load, Sheet(12) as sheet:
        opened = await asyncio.to_thread(load.ask, f"open {IDLE_USERS}", "opened")
        await let_pass(10, "the logins' timers and mirrors are done")
        full = await idle_percent(nodes)
        sheet.none("idle users who were disconnected", opened["disconnected"])
        sheet.note("two instances per service, 3 masters, no user: percent of a core per master", f"{max(empty.values()):.2f}")
        sheet.at_most(
            f"with {IDLE_USERS:,} idle users: percent of a core, busiest master", round(max(full.values()), 2), IDLE_PERCENT, " %")


@pytest.mark.long
async def test_a_gateway_connected_to_many_masters(make_stack):
    stack: Stack = make_stack("--redis", "cluster", "--redis-masters", "16", "--redis-replicas", "0", gateways=1)
    await let_pass(5, "the processes have started")
    pid = stack.pids["gateway#1"]
    before = RedisNodes.seconds_of(pid)
    await let_pass(IDLE_SECONDS, "the gateway's CPU time is counted")
    with Sheet(12) as sheet:
        percent = (RedisNodes.seconds_of(pid) - before) / IDLE_SECONDS * 100
        sheet.at_most("a gateway with one shard, 16 masters, idle: percent of a core", round(percent, 2), IDLE_PERCENT, " %")
