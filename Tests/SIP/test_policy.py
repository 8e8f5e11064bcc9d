"""What users may do with telephones, and what senders may do to a bridge."""

import asyncio
import resource
import socket
import time
from collections.abc import Iterator

import pytest
from apps import App
from fixtures import running
from scenarios import Called, expect, sdp
from scene import NUMBER, answered_call, bridge_metrics, dial, finished_row, refuses, saw, scene, words
from stack_control import Stack, unique
from waiting import eventually
from web import grown

FLOODER = "127.0.0.3"
SOCKETS = 2_000
# A connection that finds the backlog full is tried again after a second.
CONNECT_SECONDS = 10
# A bridge's lease lasts 8 s. When it ends, the bridge must have ended its calls: they cost money, and nobody controls them any more.
CUT_OFF_SECONDS = 8


async def refused(user, number: str, extra: object = "") -> dict:
    """Dials, and waits for the failure."""
    count = len(user.calls("invite_failed")) + 1
    await dial(user, number, extra)
    return words(await saw(user, "invite_failed", count))


async def test_only_what_is_allowed_is_dialled_and_shown(stack: Stack):
    before = bridge_metrics(stack)
    async with scene(stack, allow="+49", caller_id="+4989*") as play:
        alice, = await play.users("alice")
        own = play.number(alice.account)
        for number in ("+44123456", "493012345678", "sip:%2B44123@trunk", "tel:+4-4123"):
            failure = await refused(alice, number)
            assert (failure["code"], failure["reason"]) == (700, "number_not_allowed"), number
        for shown in ("+49110", "110", "sip:%2B49110@x"):
            failure = await refused(alice, NUMBER, {"srcNum": shown})
            assert (failure["code"], failure["reason"]) == (700, "caller_not_allowed"), shown
        for shown in (own, "+4989555"):
            await play.move_trunk_with(allow="+49", caller_id="+4989*")
            phone = await play.phone(Called.invited(), Called.answer(486, retransmits=True), expect("ACK"))
            count = len(alice.calls("invite_refuse")) + 1
            await dial(alice, NUMBER, {"srcNum": shown})
            await saw(alice, "invite_refuse", count)
            await phone.done()
            assert f"sip:{shown}@" in phone.received("INVITE")[0].header("From")
    after = bridge_metrics(stack)
    assert grown(before, after, "heliograph_sip_calls_forbidden_total", "number_not_allowed") == 4
    assert grown(before, after, "heliograph_sip_calls_forbidden_total", "caller_not_allowed") == 3


def test_an_open_apps_trunk_says_whom_it_calls(stack: Stack):
    app = stack.create_app(unique("open"))
    with pytest.raises(AssertionError, match="without a token"):
        stack.control("trunk", "set", app.id, "192.0.2.1")
    assert "allow none" in stack.control("trunk", "set", app.id, "192.0.2.1", "--allow=none")
    assert "allow +49,110" in stack.control("trunk", "set", app.id, "192.0.2.1", "--allow=+49", "--allow=110")


async def test_the_trunk_says_who_calls(stack: Stack):
    async with scene(stack, asserted_identity="sip:+4930@example.org", privacy="id") as play:
        alice, = await play.users("alice")
        phone = await play.phone(Called.invited(), Called.answer(486, retransmits=True), expect("ACK"))
        await dial(alice, NUMBER)
        await saw(alice, "invite_refuse")
        await phone.done()
        invite = phone.received("INVITE")[0]
        assert invite.all("P-Asserted-Identity") == ["<sip:+4930@example.org>"] and invite.all("Privacy") == ["id"]


async def test_sixty_new_calls_are_ten(stack: Stack):
    """By default a user may have ten calls to telephones at once."""
    async with scene(stack) as play:
        alice, = await play.users("alice")
        replies = await asyncio.gather(*(
            alice.attempt("voip_invite", channelName=unique("call"), peer=f"+49301{index:03}", extra="")
            for index in range(60)))
        assert sum(reply.ok for reply in replies) == 10
        assert {reply.data["code"] for reply in replies if not reply.ok} == {700}


def hold(sockets: list[socket.socket], address: tuple[str, int]) -> None:
    """Connects from an address of no trunk, retrying until it succeeds."""
    for _ in range(SOCKETS):
        connection = socket.socket()
        sockets.append(connection)
        connection.bind((FLOODER, 0))
        connection.connect(address)


async def test_a_trunk_calls_while_a_stranger_holds_two_thousand_sockets(stack: Stack, line: App):
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 4 * SOCKETS), most))
    before = bridge_metrics(stack)
    sockets: list[socket.socket] = []
    try:
        async with scene(stack, app=line) as play:
            bob, call = await play.callee()
            started = time.monotonic()
            await asyncio.to_thread(hold, sockets, play.bridge)
            assert time.monotonic() - started < CONNECT_SECONDS, "connections wait for their acceptance"
            await eventually(
                lambda: grown(before, bridge_metrics(stack), "heliograph_sip_dropped", "too_many_connections") >= SOCKETS - 100,
                "all but a few connections are refused")
            phone = await play.caller(call.invite(sdp(play.rtp.port)), call.fails(486), transport="t1")
            await refuses(bob)
            await phone.done()
    finally:
        for connection in sockets:
            connection.close()


@pytest.fixture
def lonely(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """A stack whose Redis a test freezes."""
    with running(request) as stack:
        yield stack


async def test_a_bridge_that_is_cut_off_hangs_up(lonely: Stack):
    async with scene(lonely) as play:
        alice, phone, _ = await answered_call(play)
        started = time.monotonic()
        lonely.freeze_redis()
        try:
            await phone.done()
            assert time.monotonic() - started < CUT_OFF_SECONDS + 1
        finally:
            lonely.thaw_redis()
        assert (await finished_row(play, alice))["end_code"] == "702"
