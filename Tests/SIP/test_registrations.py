"""What operators see of trunks' registrations, with a registrar that takes them, refuses them and does not answer."""

import asyncio
import json
from collections.abc import Iterator

import pytest
from fixtures import running
from registrar import Registrar
from scene import Scene, bridge_metrics, scene
from stack_control import Stack
from waiting import eventually

UNREGISTERED = "heliograph_sip_trunks_unregistered"
# The shortest binding whose refresh leaves time to look at it.
EXPIRES = 6
# A REGISTER without an answer is given up after 64 times T1.
NO_ANSWER_SECONDS = 40


@pytest.fixture(scope="module")
def bridges(request: pytest.FixtureRequest) -> Iterator[Stack]:
    with running(request) as stack:
        yield stack


def told(play: Scene) -> list[dict]:
    """What `heliographctl trunk show` has of the registrations."""
    return json.loads(play.stack.control("trunk", "show", play.app.id, "--json"))["registrations"]


def stands(play: Scene, state: str, status: int | None = None) -> bool:
    return [(one["state"], one.get("status")) for one in told(play)] == [(state, status)]


def register(play: Scene) -> None:
    play.trunk(user="u", secret="s", register=True)


async def test_registered_refused_and_ended(bridges: Stack):
    async with scene(bridges) as play, Registrar(play.port) as registrar:
        assert told(play) == [] and bridge_metrics(bridges)[UNREGISTERED] == 0
        register(play)
        await eventually(lambda: stands(play, "registered"), "it is registered")
        first, = told(play)
        assert 50_000 <= first["until"] - first["since"] <= 62_000
        assert f"{first['bridge']} is registered since" in bridges.control("trunk", "show", play.app.id)
        await eventually(lambda: bridge_metrics(bridges)[UNREGISTERED] == 0, "none is missing")
        # A change of the account registers anew, which is refused.
        registrar.status = 403
        play.trunk(user="v")
        await eventually(lambda: stands(play, "refused", 403), "it is refused")
        assert "was refused with 403" in bridges.control("trunk", "list")
        assert "until" not in told(play)[0] or told(play)[0]["until"] is None
        await eventually(lambda: bridge_metrics(bridges)[UNREGISTERED] == 1, "one is missing")
        assert bridges.sql(f"SELECT state, status FROM trunk_registrations WHERE app = '{play.app.id}'") == [["refused", "403"]]
        assert "was refused with 403" in bridges.control("doctor")
        play.stack.control("trunk", "set", play.app.id, "--no-register")
        await eventually(lambda: told(play) == [], "nothing is told of what has ended")
        await eventually(lambda: bridge_metrics(bridges)[UNREGISTERED] == 0, "none is missing")


async def test_a_refresh_keeps_since_and_moves_until(bridges: Stack):
    async with scene(bridges) as play, Registrar(play.port, expires=EXPIRES) as registrar:
        register(play)
        await eventually(lambda: stands(play, "registered"), "it is registered")
        first, = told(play)
        await eventually(lambda: told(play)[0]["until"] > first["until"], "it is refreshed", 2 * EXPIRES)
        assert told(play)[0]["since"] == first["since"] and len(registrar.requests) >= 2
        # It takes the request, and lists nothing.
        registrar.status = 202
        await eventually(lambda: stands(play, "refused", 200), "it is lost", 2 * EXPIRES)


async def test_a_registrar_that_does_not_answer(bridges: Stack):
    async with scene(bridges) as play, Registrar(play.port, status=None) as registrar:
        # Trunks of other tests, whose registrars are gone.
        missing = bridge_metrics(bridges)[UNREGISTERED]
        register(play)
        await eventually(lambda: registrar.requests, "it is asked")
        assert told(play) == []
        await eventually(lambda: bridge_metrics(bridges)[UNREGISTERED] == missing + 1, "one is missing before it is known why")
        await eventually(lambda: stands(play, "unanswered"), "it is given up", NO_ANSWER_SECONDS)
        assert "has no answer" in bridges.control("trunk", "show", play.app.id)


async def test_a_killed_bridge_is_registered_no_longer_than_its_binding(bridges: Stack):
    async with scene(bridges) as play, Registrar(play.port, expires=EXPIRES):
        register(play)
        await eventually(lambda: stands(play, "registered"), "it is registered")
        bridges.kill("sip-bridge#1")
        try:
            assert stands(play, "registered")
            await eventually(lambda: told(play) == [], "its binding has ended", EXPIRES + 2)
            assert bridges.sql(f"SELECT state FROM trunk_registrations WHERE app = '{play.app.id}'") == [["unknown"]]
        finally:
            bridges.start("sip-bridge#1")
        await eventually(lambda: stands(play, "registered"), "it is registered again")


async def test_a_bridge_that_is_stopped_takes_back_what_it_told(bridges: Stack):
    async with scene(bridges) as play, Registrar(play.port) as registrar:
        register(play)
        await eventually(lambda: stands(play, "registered"), "it is registered")
        await asyncio.to_thread(bridges.drain, "sip-bridge#1")
        try:
            assert told(play) == [] and registrar.requests[-1].header("Expires") == "0"
        finally:
            bridges.start("sip-bridge#1")
