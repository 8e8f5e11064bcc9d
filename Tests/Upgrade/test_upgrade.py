"""A cluster is upgraded and taken back under load, process by process: nobody notices."""

import os
from pathlib import Path

import pytest
import report
from answers import LoginRefused
from breakages import Breakage, Lab, run
from rollouts import KINDS, ROLLOUTS, Releases, Rollout, first, forth_and_back, migrate, replace
from server_api import ServerAPI, create_key
from stack_control import BINARIES, Stack, run_program, unique
from told import contradictions, told
from waiting import eventually


def programs(variable: str) -> Path:
    """A directory that `make upgrade` gives."""
    assert os.environ.get(variable), f"{variable} is not set: run `make upgrade`"
    return Path(os.environ[variable])


PREVIOUS, NEXT = "from the previous release", "to a next release"
PAIRS = {
    PREVIOUS: lambda: Releases(programs("HELIOGRAPH_PREVIOUS_BIN"), BINARIES),
    NEXT: lambda: Releases(BINARIES, programs("HELIOGRAPH_NEXT_BIN")),
}
# The release before knew no Redis Cluster.
UPGRADES = [(pair, rollout) for pair in PAIRS for rollout in ROLLOUTS if not (pair == PREVIOUS and rollout.on_a_cluster)]


async def judged(name: str, act, rollout: Rollout, releases: Releases, make_stack) -> None:
    """Runs an act under load, and expects that no user noticed it, nor the app's server."""
    stack: Stack = make_stack(*rollout.options, **releases.counts)
    async with told(stack, releases):
        verdict, population = await run(Breakage(name, act), stack)
    report.add("upgrades", report.header(), report.line(name, verdict))
    population.history.save(report.FOLDER / f"upgrade-{name.replace(' ', '-').replace(',', '')}.jsonl")
    assert verdict.clean, f"{dict(verdict.defects)}:\n" + "\n".join(verdict.notes[:40])


async def test_rolling_restart(make_stack):
    """The short form: each process is replaced by one of the same release."""
    rollout, releases = Rollout("rolling restart", first("gateway")), Releases.same()

    async def act(lab: Lab) -> None:
        await replace(lab, rollout.order, releases.new, rollout)

    await judged(rollout.name, act, rollout, releases, make_stack)


def test_all_processes_are_in_every_order():
    assert all(sorted(rollout.order) == sorted(first("presence")) for rollout in ROLLOUTS)
    assert len({rollout.order for rollout in ROLLOUTS}) == len(ROLLOUTS)
    assert {rollout.order[0].split("#")[0] for rollout in ROLLOUTS[:len(KINDS)]} == set(KINDS)


def test_what_is_missing_among_the_told_is_found():
    def event(number: int, kind: str, **more: str) -> dict:
        return {"id": f"{kind}-{number}", "kind": kind, "at": number, "account": "ann", **more}

    visit = [event(1, "online"), event(2, "join", channel="room"), event(3, "leave", channel="room"), event(4, "offline")]
    again = [one | {"id": f"{one['id']}-again"} for one in visit]
    assert contradictions([*visit, *visit, *again]) == ([], set())
    assert contradictions([{"id": "call-1", "kind": "call", "at": 1}, *visit[:2]]) == ([], {("ann", None), ("ann", "room")})
    for number in range(len(visit)):
        found, present = contradictions([*visit[:number], *visit[number + 1:], *again])
        assert len(found) == 1 and not present, number


def test_the_next_release_fits_the_sources():
    """Building it takes minutes; that the patch applies is known at once."""
    done = run_program("git", "apply", "--check", "Tests/Upgrade/next-release.patch")
    assert done.returncode == 0, done.stderr


@pytest.mark.long
@pytest.mark.parametrize(("pair", "rollout"), UPGRADES, ids=lambda value: getattr(value, "name", value))
async def test_upgrade(pair: str, rollout: Rollout, make_stack, monkeypatch):
    releases = PAIRS[pair]()
    # The cluster, its database and its apps are the old release's.
    monkeypatch.setenv("HELIOGRAPH_BIN", str(releases.old))
    # A setting that only a next release knows.
    monkeypatch.setenv("HELIOGRAPH_PRESENCE_NEXT", "true")

    async def act(lab: Lab) -> None:
        await forth_and_back(lab, rollout, releases)

    await judged(f"{pair}, {rollout.name}", act, rollout, releases, make_stack)


@pytest.mark.long
async def test_what_is_new_waits_for_the_last_process_of_the_previous_release(make_stack, people, monkeypatch):
    """A process of before would let a banned user in, and knows no list of users: both are refused while one runs, whichever is asked."""
    releases = PAIRS[PREVIOUS]()
    monkeypatch.setenv("HELIOGRAPH_BIN", str(releases.old))
    stack: Stack = make_stack(gateways=1, presence=2)

    def renew(*members: str) -> None:
        for member in members:
            stack.run("drain", member)
            stack.run("start", member, "--programs", str(releases.new))

    migrate(stack, releases.new)
    renew("gateway#1", "presence#1")
    api = ServerAPI(stack, create_key(stack)["key"])
    app, name = stack.open_app.id, unique("banned")
    ban, users = ("apps", app, "users", name, "ban"), ("apps", app, "users")

    async def is_let_in() -> bool:
        async with people(stack) as cast:
            try:
                await cast.exactly(name).login(stack.gateways[0])
            except LoginRefused as refusal:
                assert refusal.error == "banned", refusal.data
                return False
            return True

    for _ in range(20):
        for refusal in (api.put(*ban, body={"seconds": 3600}), api.get(*users)):
            assert (refusal.status, refusal.code) == (503, "unavailable"), refusal.body
            assert "level 2" in refusal.body["bound"] and "one has 1" in refusal.body["bound"]
        assert await is_let_in()
    renew("presence#2", "channel-state#1", "invitation#1", "sip-bridge#1")
    await eventually(lambda: api.put(*ban, body={"seconds": 3600}).status == 200, "no process of before runs", 60)
    assert api.get(*users).status == 200
    assert not await is_let_in()
