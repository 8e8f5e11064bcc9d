"""Whom an INVITE to a telephone names: the callee, the caller and the headers that a user may add."""

import json

import pytest
from scenarios import Called, expect, sdp
from scene import NUMBER, dial, saw, scene, words
from stack_control import Stack, unique


async def test_who_calls_and_extra_headers(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        phone = await play.phone(
            Called.invited(), Called.answer(180), Called.picks_up(sdp(play.rtp.port)), Called.is_hung_up())
        # In an invitation with a srcNum, any callee counts as a telephone.
        extra = {"srcNum": "+4989555", "sip_header:X-Campaign": "winter", "sip_header:x-long-name": "a b"}
        channel = await dial(alice, "reception", extra)
        await saw(alice, "invite_accept")
        await alice.act("invite_bye", channel, "reception")
        await phone.done()
        invite = phone.received("INVITE")[0]
        assert invite.uri.startswith("sip:reception@")
        assert "sip:+4989555@" in invite.header("From")
        assert invite.all("X-Campaign") == ["winter"] and invite.all("X-Long-Name") == ["a b"]


BAD_HEADERS = (
    "From", "f", "t", "l", "v", "CSeq", "Content-Length", "Via", "VIA", "Max-Forwards", "Route", "X Y", "",
    "X-Colon:", "X\r\nY", "P-Asserted-Identity", "P-Preferred-Identity", "Remote-Party-ID", "Diversion", "Privacy",
    "History-Info", "P-Charge-Info", "Call-Info", "Subject")
BAD_VALUES = ("1\r\nX-Evil: 1", "1\nX-Evil: 1", "1\rX-Evil: 1", "1\u0000")


async def test_nothing_can_be_smuggled_into_a_request(stack: Stack):
    """Headers and values that are not allowed are refused before an INVITE is sent."""
    extras = [{"srcNum": "+49", f"sip_header:{name}": "evil"} for name in BAD_HEADERS]
    extras += [{"srcNum": "+49", "sip_header:X-A": value} for value in BAD_VALUES]
    extras += [{"srcNum": value} for value in (*BAD_VALUES, "1>;tag=evil\r\n")]
    async with scene(stack, user_calls_per_minute=100) as play:
        alice, = await play.users("alice")
        phone = await play.phone(Called.invited(), Called.answer(486, retransmits=True), expect("ACK"))
        refused = 0
        for extra in extras:
            reply = await alice.attempt(
                "voip_invite", channelName=unique("call"), peer=NUMBER, extra=json.dumps(extra))
            if reply.ok:
                refused += 1
                assert words(await saw(alice, "invite_failed", refused))["code"] == 700, extra
            else:
                assert reply.data["code"] == 1004, extra
        await dial(alice, NUMBER)
        await saw(alice, "invite_refuse")
        await phone.done()
        # Every INVITE but the last was refused before it left.
        assert len(phone.received("INVITE")) == 1


@pytest.mark.parametrize(("callee", "user"), [
    ("+4930111", "+4930111"), ("030111", "030111"), ("tel:+4930111", "+4930111"), ("TEL:+4930111", "+4930111"),
    ("sip:operator@pbx.example", "operator"),
])
async def test_what_counts_as_a_phone(stack: Stack, callee: str, user: str):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        phone = await play.phone(Called.invited(), Called.answer(486, "Busy Here", retransmits=True), expect("ACK"))
        await dial(alice, callee)
        assert (await saw(alice, "invite_refuse"))["peer"] == callee
        await phone.done()
        assert phone.received("INVITE")[0].uri.startswith(f"sip:{user}@")


async def test_a_trunk_by_its_name(stack: Stack):
    async with scene(stack, host="localhost") as play:
        alice, = await play.users("alice")
        phone = await play.phone(Called.invited(), Called.answer(486, "Busy Here", retransmits=True), expect("ACK"))
        await dial(alice, NUMBER)
        await saw(alice, "invite_refuse")
        await phone.done()
