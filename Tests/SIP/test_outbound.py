"""Users call telephones, which sipp plays."""

import re

import pytest
from acts import mail_barrier
from peers import LOOPBACK, free_port
from scenarios import Called, expect, pause, sdp
from scene import NUMBER, dial, finished_row, press, saw, scene
from sipp import Sipp
from stack_control import Stack
from waiting import eventually


async def test_a_call_is_answered_and_ended_by_the_user(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        phone = await play.phone(
            Called.invited(), Called.answer(180), pause(0.3), Called.picks_up(sdp(play.rtp.port)), Called.is_hung_up())
        channel = await dial(alice, NUMBER)
        await saw(alice, "invite_ack")
        accepted = await saw(alice, "invite_accept")
        assert (accepted["channel"], accepted["peer"]) == (channel, NUMBER)
        await play.rtp.hears_audio()
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()
        check_messages(phone, play)
        row = await finished_row(play, alice)
        assert (row["caller"], row["callee"], row["direction"], row["number"]) \
            == (alice.account, NUMBER, "outbound", NUMBER)
        assert row["end_code"] == "0" and row["sip_status"] == "200"
        assert row["sip_call_id"] == phone.received("INVITE")[0].header("Call-ID")
        times = [row[name] for name in ("started_at", "acknowledged_at", "accepted_at", "ended_at")]
        assert all(times) and times == sorted(times)
        assert not alice.calls("invite_bye") and not alice.calls("invite_failed")


def check_messages(phone: Sipp, play) -> None:
    """What RFC 3261 and 3264 ask of INVITE, ACK and BYE."""
    invite, ack, bye = (phone.received(method)[0] for method in ("INVITE", "ACK", "BYE"))
    assert invite.uri.startswith(f"sip:{NUMBER}@{LOOPBACK}:{play.port}"), invite.uri
    assert int(invite.header("Max-Forwards")) > 0 and invite.tag("From") and not invite.tag("To")
    assert "timer" in invite.header("Supported") and "UPDATE" in invite.header("Allow")
    offer = invite.body
    assert f"c=IN IP4 {LOOPBACK}" in offer
    # A stream without a direction is sendrecv (RFC 3264, 5.1).
    assert set(re.findall(r"^a=(sendrecv|sendonly|recvonly|inactive)\b", offer, re.MULTILINE)) <= {"sendrecv"}
    assert "RTP/AVP 0 8" in offer and "telephone-event/8000" in offer
    # The ACK of a 2xx is a transaction of its own with the INVITE's CSeq number; it and later requests go to the phone's Contact.
    assert ack.branch != invite.branch and ack.cseq == (invite.cseq[0], "ACK")
    assert bye.cseq == (invite.cseq[0] + 1, "BYE") and bye.tag("To") == ack.tag("To") != ""
    assert ack.uri.startswith("sip:phone@") and bye.uri == ack.uri


async def test_the_phone_hangs_up(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        phone = await play.phone(
            Called.invited(), Called.answer(180), Called.picks_up(sdp(play.rtp.port)), pause(0.5), Called.hangs_up())
        channel = await dial(alice, NUMBER)
        await saw(alice, "invite_accept")
        ended = await saw(alice, "invite_bye")
        assert (ended["channel"], ended["peer"]) == (channel, NUMBER)
        await phone.done()
        row = await finished_row(play, alice)
        assert row["end_code"] == "0" and row["accepted_at"]


async def test_the_user_gives_up_while_it_rings(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        phone = await play.phone(Called.invited(), Called.answer(180), Called.cancelled())
        channel = await dial(alice, NUMBER)
        await saw(alice, "invite_ack")
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()
        invite, cancel, ack = (phone.received(method)[0] for method in ("INVITE", "CANCEL", "ACK"))
        assert cancel.branch == invite.branch and not cancel.tag("To")
        assert cancel.cseq == (invite.cseq[0], "CANCEL") and cancel.uri == invite.uri
        assert ack.branch == invite.branch and ack.tag("To") == phone.sent(487)[0].tag("To")
        assert not alice.calls("invite_accept") and not alice.calls("invite_failed")


async def test_a_cancel_waits_for_the_first_provisional_response(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        # A CANCEL in the pause would be unexpected, and fail the scenario.
        phone = await play.phone(Called.invited(), pause(1.2), Called.answer(180), Called.cancelled())
        channel = await dial(alice, NUMBER)
        await eventually(lambda: phone.received("INVITE"), "the INVITE arrived")
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()
        assert not alice.calls("invite_ack")


async def test_an_answer_that_crosses_the_cancel_is_acknowledged_and_ended(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        phone = await play.phone(
            Called.invited(), Called.answer(180), expect("CANCEL"), Called.confirm(),
            Called.picks_up(sdp(play.rtp.port)), Called.is_hung_up())
        channel = await dial(alice, NUMBER)
        await saw(alice, "invite_ack")
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()
        await mail_barrier(alice)
        assert not alice.calls("invite_accept") and not alice.calls("invite_failed") and not alice.calls("invite_bye")


async def test_the_user_logs_out(stack: Stack):
    """A logout ends the user's calls, whether they ring or are answered."""
    async with scene(stack) as play:
        alice, = await play.users("alice")
        phone = await play.phone(
            Called.invited(), Called.answer(180), Called.picks_up(sdp(play.rtp.port)), Called.is_hung_up())
        await dial(alice, NUMBER)
        await saw(alice, "invite_accept")
        await alice.logout()
        await phone.done()
        bob, = await play.users("bob")
        phone = await play.phone(Called.invited(), Called.answer(180), Called.cancelled())
        await dial(bob, NUMBER)
        await saw(bob, "invite_ack")
        await bob.logout()
        await phone.done()


async def test_over_tcp(stack: Stack):
    async with scene(stack, transport="tcp") as play:
        alice, = await play.users("alice")
        phone = await play.phone(
            Called.invited(), Called.answer(180), Called.picks_up(sdp(play.rtp.port)), Called.is_hung_up(), transport="t1")
        channel = await dial(alice, NUMBER)
        await saw(alice, "invite_accept")
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()
        invite = phone.received("INVITE")[0]
        assert "SIP/2.0/TCP" in invite.header("Via") and "transport=tcp" in invite.header("Contact").lower()


@pytest.mark.parametrize("repeats", [True, False], ids=["in both", "in the 183 only"])
async def test_early_media_then_the_answer(stack: Stack, repeats: bool):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        phone = await play.phone(
            Called.invited(), Called.answer(183, "Session Progress", sdp(play.rtp.port)), pause(0.5),
            Called.picks_up(sdp(play.rtp.port) if repeats else ""), Called.is_hung_up())
        channel = await dial(alice, NUMBER)
        await saw(alice, "invite_ack")
        await saw(alice, "invite_accept")
        assert len(alice.calls("invite_ack")) == 1
        await play.rtp.hears_audio()
        await press(alice, channel, NUMBER, "1")
        await play.rtp.heard_digits(96, "1")
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()


async def test_every_copy_of_an_answer_is_acknowledged(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        body = sdp(play.rtp.port)
        phone = await play.phone(
            Called.invited(), Called.answer(200, "OK", body), expect("ACK"), Called.answer(200, "OK", body, again=True),
            expect("ACK"), Called.is_hung_up())
        channel = await dial(alice, NUMBER)
        await saw(alice, "invite_accept")
        await eventually(lambda: len(phone.received("ACK")) == 2, "the second ACK arrived")
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()
        assert len(alice.calls("invite_accept")) == 1


async def test_a_second_fork_that_answers_is_acknowledged_and_ended(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        fork = Called.answer(200, "OK", sdp(free_port()), tag="otherfork", again=True)
        # The first BYE is the fork's, the second the call's.
        phone = await play.phone(
            Called.invited(), Called.answer(180), Called.answer(200, "OK", sdp(play.rtp.port)), expect("ACK"), fork,
            expect("ACK"), Called.is_hung_up(), Called.is_hung_up())
        channel = await dial(alice, NUMBER)
        await saw(alice, "invite_accept")
        await eventually(lambda: phone.received("BYE"), "the fork is ended")
        assert phone.received("ACK")[1].tag("To") == phone.received("BYE")[0].tag("To") == "otherfork"
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()
        assert phone.received("BYE")[1].tag("To") == phone.received("ACK")[0].tag("To") != "otherfork"
        assert len(alice.calls("invite_accept")) == 1 and not alice.calls("invite_bye")


async def test_a_fork_that_answers_without_a_contact_does_not_end_the_call(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        fork = Called.answer(200, "OK", sdp(free_port()), tag="otherfork", again=True, has_contact=False)
        # OPTIONS is answered after the fork's 200 was handled.
        phone = await play.phone(
            Called.invited(), Called.answer(180), Called.answer(200, "OK", sdp(play.rtp.port)), expect("ACK"), fork,
            Called.request("OPTIONS", 5), expect(200), Called.is_hung_up())
        channel = await dial(alice, NUMBER)
        await saw(alice, "invite_accept")
        await eventually(lambda: phone.received(200), "OPTIONS is answered")
        await alice.act("invite_bye", channel, NUMBER)
        await phone.done()
        byes = phone.received("BYE")
        assert [bye.tag("To") for bye in byes] == [phone.received("ACK")[0].tag("To")]
        assert not alice.calls("invite_bye")


async def test_two_calls_of_one_user_at_once(stack: Stack):
    async with scene(stack) as play:
        alice, = await play.users("alice")
        phone = await play.phone(
            Called.invited(), Called.answer(180), Called.picks_up(sdp(play.rtp.port)), Called.is_hung_up(),
            calls=2)
        channels = {number: await dial(alice, number) for number in ("+4930111", "+4930222")}
        await saw(alice, "invite_accept", 2)
        for number, channel in channels.items():
            await alice.act("invite_bye", channel, number)
        await phone.done()
        assert {call["peer"] for call in alice.calls("invite_accept")} == set(channels)


async def test_traces_are_on_demand_and_secrets_stay_out_of_the_logs(stack: Stack):
    log = stack.directory / "logs" / "sip-bridge#1.log"
    async with scene(stack, user="trunk", secret="swordfish-5711") as play:
        alice, = await play.users("alice")
        for count, (number, extra) in enumerate((("+4930111", ""), ("+4930222", {"sip_trace": 1})), 1):
            phone = await play.phone(
                Called.invited(), Called.answer(180), Called.picks_up(sdp(play.rtp.port)), Called.is_hung_up())
            channel = await dial(alice, number, extra)
            await saw(alice, "invite_accept", count)
            await alice.act("invite_bye", channel, number)
            await phone.done()
            call_id = phone.received("INVITE")[0].header("Call-ID")
            await eventually(lambda: call_id in log.read_text(), "the log names the SIP Call-ID")
            assert (f"INVITE sip:{number}" in log.read_text()) == (extra != "")
    for path in (stack.directory / "logs").iterdir():
        assert "swordfish-5711" not in path.read_text(errors="replace"), path.name
