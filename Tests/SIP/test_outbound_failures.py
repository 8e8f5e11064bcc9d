"""Calls to telephones that are refused, or that nobody answers."""

import pytest
from scenarios import Called, expect, pause, sdp
from scene import NUMBER, dial, finished_row, saw, scene, words
from stack_control import Stack


async def test_an_answer_without_a_usable_description_is_acknowledged_and_ended(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        phone = await play.phone(
            Called.invited(), Called.answer(180), Called.picks_up(sdp(play.rtp.port, (("9", "G722/8000"),))),
            Called.is_hung_up())
        await dial(alice, NUMBER)
        assert words(await saw(alice, "invite_failed"))["code"] == 700
        await phone.done()
        assert not alice.calls("invite_accept")


@pytest.mark.parametrize(("status", "verb", "code"), [
    (486, "invite_refuse", None), (600, "invite_refuse", None), (603, "invite_refuse", None),
    (404, "invite_failed", 700), (484, "invite_failed", 700), (604, "invite_failed", 700), (488, "invite_failed", 700),
    (503, "invite_failed", 700), (302, "invite_failed", 700), (401, "invite_failed", 700),
    (480, "invite_failed", 703), (408, "invite_failed", 704),
])
async def test_final_responses_become_codes(stack: Stack, status: int, verb: str, code: int | None):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        phone = await play.phone(
            Called.invited(), Called.answer(180), Called.answer(status, "No Luck", retransmits=True), expect("ACK"))
        channel = await dial(alice, NUMBER)
        told = await saw(alice, verb)
        assert (told["channel"], told["peer"]) == (channel, NUMBER)
        extra = words(told)
        assert (extra["sip_status"], extra["sip_reason"]) == (status, "No Luck")
        if code is not None:
            assert extra["code"] == code
        await phone.done()
        invite, ack = phone.received("INVITE")[0], phone.received("ACK")[0]
        assert ack.branch == invite.branch and ack.cseq == (invite.cseq[0], "ACK")
        row = await finished_row(play, alice)
        assert (row["sip_status"], row["sip_reason"], row["accepted_at"]) == (str(status), "No Luck", "")


async def test_without_a_trunk(stack: Stack):
    async with scene(stack, trunk=False) as play:
        alice, = await play.users("alice")
        await dial(alice, NUMBER)
        extra = words(await saw(alice, "invite_failed"))
        assert (extra["code"], extra["reason"]) == (700, "no_trunk")
        # Without a trunk, digits are a user's account; this user never logs in.
        await dial(alice, "12345", {"_timeout": 1})
        assert words(await saw(alice, "invite_failed", 2))["code"] == 703


async def test_nobody_answers(stack: Stack):
    async with scene(stack, ring=2) as play:
        alice, = await play.users("alice")
        phone = await play.phone(Called.invited(), Called.answer(180), Called.cancelled())
        await dial(alice, NUMBER)
        await saw(alice, "invite_ack")
        assert words(await saw(alice, "invite_failed"))["code"] == 704
        await phone.done()


async def test_a_silent_trunk_runs_into_the_users_timeout(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        phone = await play.phone(Called.invited(), pause(3), Called.answer(180), Called.cancelled())
        await dial(alice, NUMBER, {"_timeout": 2})
        assert words(await saw(alice, "invite_failed"))["code"] == 704
        # The CANCEL waited for a provisional response: it follows the late 180, of which the user is not told.
        await phone.done()
        assert not alice.calls("invite_ack")


async def test_an_unreachable_trunk(stack: Stack):
    async with scene(stack, transport="tcp") as play:
        alice, = await play.users("alice")
        await dial(alice, NUMBER)
        assert words(await saw(alice, "invite_failed"))["code"] == 702


async def test_a_host_that_does_not_exist(stack: Stack):
    async with scene(stack, host="trunk.invalid") as play:
        alice, = await play.users("alice")
        await dial(alice, NUMBER)
        assert words(await saw(alice, "invite_failed", seconds=30))["code"] == 702
