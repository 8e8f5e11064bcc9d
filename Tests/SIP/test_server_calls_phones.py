"""Telephones that an app's server calls."""

from request_lines import said
from scenarios import PCMU_AND_EVENTS, Called, sdp
from scene import NUMBER, scene
from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually, let_pass


async def test_a_server_calls_a_telephone_and_sends_digits(stack: Stack):
    """Nobody is logged in."""
    async with scene(stack) as play:
        api = ServerAPI(stack, create_key(stack, app=play.app.id)["key"])
        phone = await play.phone(
            Called.invited(), Called.answer(180), Called.picks_up(sdp(play.rtp.port, PCMU_AND_EVENTS)), Called.is_hung_up())
        path = ("apps", play.app.id, "calls")
        request = unique("order")
        answer = api.post(*path, body={"from": "shop", "to": NUMBER, "channel": "c"}, headers={"X-Request-Id": request})
        assert answer.status == 200, answer.body
        call = answer.body["call"]

        def row() -> dict:
            return next((call for call in api.get(*path).body["calls"]), {})

        await eventually(lambda: row().get("state") == "talking", "the telephone was answered", 10)
        assert (row()["id"], row()["kind"], row()["direction"], row()["callee"]) == (call, "phone", "outbound", NUMBER)
        await play.rtp.hears_audio()
        assert api.post(*path, call, "digits", body={"from": "shop", "digits": "12#"}).status == 200
        await play.rtp.heard_digits(96, "12#")
        assert api.delete(*path, call, query="?account=shop").status == 200
        await phone.done()
        await eventually(lambda: row()["state"] == "ended", "the log has the end", 10)
        assert row()["endCode"] == 0 and row()["sipStatus"] == 200
        told = {("info", text) for text in ("telephone", "the call is up", "the call is over")}
        await eventually(lambda: told <= said(stack, "sip-bridge", request), "the bridge's log tells of the request")


async def test_a_call_with_a_telephone_counts_among_what_the_app_used(stack: Stack):
    async with scene(stack) as play:
        api = ServerAPI(stack, create_key(stack, app=play.app.id)["key"])
        phone = await play.phone(
            Called.invited(), Called.answer(180), Called.picks_up(sdp(play.rtp.port, PCMU_AND_EVENTS)), Called.is_hung_up())
        path = ("apps", play.app.id)
        call = api.post(*path, "calls", body={"from": "shop", "to": NUMBER, "channel": "c"}).body["call"]

        def state() -> str | None:
            return next((row["state"] for row in api.get(*path, "calls").body["calls"]), None)

        await eventually(lambda: state() == "talking", "the telephone was answered", 10)
        await let_pass(1.1, "a talk of more than a second")
        assert api.delete(*path, "calls", call, query="?account=shop").status == 200
        await phone.done()

        def used() -> dict:
            return next(iter(api.get(*path, "usage", query="?days=1").body["days"]), {})

        await eventually(lambda: used().get("phoneCalls"), "the end of the call is counted", 15)
        day = used()
        assert (day["phoneCalls"], day["calls"], day["callSeconds"]) == (1, 0, 0)
        assert 1 <= day["phoneCallSeconds"] <= 30
