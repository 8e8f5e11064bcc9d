"""Invitations: their deadlines and ends, the keys of `extra`, and the events that a session without knowledge of the call never gets."""

import json
import time

from acts import mail_barrier, ring
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually, let_pass


async def after_a_barrier(client: Client) -> list[str]:
    """The kinds of all call events, once everything that was queued before has arrived."""
    await mail_barrier(client)
    return [message.type for message in client.messages if message.type.startswith("voip_")]


def code(failed: dict) -> int:
    return json.loads(failed["extra"])["code"]


async def test_contents_have_all_four_keys(stack: Stack, people):
    channel = unique("call")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await ring(alice, bob, channel)
        await bob.act("invite_accept", channel, alice.account, '{"a":1}')
        await alice.act("invite_msg", channel, bob.account, '{"msgtype":"dtmf","msgdata":"1"}')
        await alice.act("invite_bye", channel, bob.account, '{"b":2}')
        await ring(alice, bob, channel + "2")
        await bob.act("invite_refuse", channel + "2", alice.account, '{"c":3}')
        await alice.act("invite", channel + "3", unique("nobody"), '{"_timeout":1}')
        await eventually(lambda: alice.calls("invite_failed") and bob.calls("invite_bye"), "all arrived")
        for client, other in ((alice, bob), (bob, alice)):
            for message in client.messages:
                content = message.call
                assert content.keys() == {"channel", "peer", "extra", "peeruid"}, message.type
                assert [type(content[key]) for key in ("channel", "peer", "extra", "peeruid")] == [str, str, str, int]
                if message.type != "voip_invite_failed":
                    # The other party, as the receiver sees it, and the uid that the other party's login returned.
                    assert (content["peer"], content["peeruid"]) == (other.account, other.uid)
        assert bob.calls("invite_bye")[0]["extra"] == '{"b":2}' and alice.calls("invite_refuse")[0]["extra"] == '{"c":3}'


async def test_extra_is_passed_on_verbatim(stack: Stack, people):
    extra = '{ "destMediaUid":42,"srcNum" : "+1 555", "sip_header:X-Tag":"é\\u0041",\n"_timeout":5,"own":[1, 2]}'
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await alice.act("invite", unique("call"), bob.account, extra)
        await eventually(lambda: bob.calls("invite"), "the invitation arrived")
        assert bob.calls("invite")[0]["extra"] == extra


async def test_either_side_may_end(stack: Stack, people):
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        for number, (accepted, ender, other) in enumerate([
                (False, alice, bob), (False, bob, alice), (True, alice, bob), (True, bob, alice)]):
            channel = unique("call")
            await ring(alice, bob, channel)
            if accepted:
                await bob.act("invite_accept", channel, alice.account)
            before = len(ender.calls("invite_bye"))
            await ender.act("invite_bye", channel, other.account, f'{{"n":{number}}}')
            await eventually(lambda: any(c["channel"] == channel for c in other.calls("invite_bye")), "the end arrived")
            assert other.calls("invite_bye")[-1]["extra"] == f'{{"n":{number}}}'
            await after_a_barrier(ender)
            assert len(ender.calls("invite_bye")) == before, "who ends a call gets no event of it"
            # The call is over for both.
            for client, peer in ((alice, bob), (bob, alice)):
                again = await client.attempt("voip_invite_accept", channelName=channel, peer=peer.account, extra="")
                assert not again.ok


async def test_reinvitation_while_ringing_and_in_the_call(stack: Stack, people):
    channel = unique("call")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await ring(alice, bob, channel)
        again = await alice.attempt("voip_invite", channelName=channel, peer=bob.account, extra="")
        assert again.data.get("code") == 701
        await bob.act("invite_accept", channel, alice.account)
        await eventually(lambda: alice.calls("invite_accept"), "the call goes on")
        again = await alice.attempt("voip_invite", channelName=channel, peer=bob.account, extra="")
        assert again.data.get("code") == 701
        # Another channel is another call.
        await ring(alice, bob, channel + "2")
        assert (await after_a_barrier(alice)).count("voip_invite_failed") == 0, "the refusal was the call's answer, and no event follows"
        assert len(bob.calls("invite")) == 2


async def test_nobody_there_and_now_or_never(stack: Stack, people):
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        for extra in ('{"_require_peer_online":1}', '{"_timeout":0}'):
            nobody, channel = unique("nobody"), unique("call")
            started = time.monotonic()
            reply = await alice.attempt("voip_invite", channelName=channel, peer=nobody, extra=extra)
            if reply.ok:
                await eventually(lambda: any(c["peer"] == nobody for c in alice.calls("invite_failed")), "the failure")
                assert code(alice.calls("invite_failed")[-1]) == 703
            else:
                assert reply.data["code"] == 703
                await after_a_barrier(alice)
                assert not alice.calls("invite_failed"), "the failure was the call's answer, and an event followed"
            assert time.monotonic() - started < 5
            # A callee who logs in later never sees the invitation.
            late = await cast.exactly(nobody).login(stack.gateways[1])
            assert await after_a_barrier(late) == []


async def test_twenty_seconds_unless_told_otherwise(stack: Stack, people):
    channel = unique("call")
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        silent = await cast.make("silent", polls=False).login(stack.gateways[1])
        nobody = unique("nobody")
        started = time.monotonic()
        await alice.act("invite", channel, nobody)
        await alice.act("invite", channel, silent.account, '{"_timeout":null}')
        await eventually(lambda: len(alice.calls("invite_failed")) == 2, "both failed", 30)
        assert 19 <= time.monotonic() - started <= 27
        assert {call["peer"]: code(call) for call in alice.calls("invite_failed")} \
            == {nobody: 703, silent.account: 704}


async def test_a_timeout_destroys_the_invitation(stack: Stack, people):
    channel = unique("call")
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        # Online, but never polls its mailbox.
        silent = await cast.make("silent", polls=False).login(stack.gateways[1])
        await alice.act("invite", channel, silent.account, '{"_timeout":1}')
        await eventually(lambda: alice.calls("invite_failed"), "the failure")
        assert code(alice.calls("invite_failed")[0]) == 704
        # An acceptance that comes too late does not revive it.
        await silent.attempt("voip_invite_accept", channelName=channel, peer=alice.account, extra="")
        assert "voip_invite_accept" not in await after_a_barrier(alice)
        newer = await cast.exactly(silent.account).login(stack.gateways[0])
        assert await after_a_barrier(newer) == []
        # The two can call each other again.
        await ring(alice, newer, channel)


async def test_no_timeout_after_an_answer(stack: Stack, people):
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        channels = {verb: unique(verb) for verb in ("accept", "refuse", "bye")}
        for verb, channel in channels.items():
            await ring(alice, bob, channel, '{"_timeout":1}')
            await bob.act(f"invite_{verb}", channel, alice.account)
        await let_pass(2, "the invitations' time of a second is over")
        assert "voip_invite_failed" not in await after_a_barrier(alice)
        assert "voip_invite_bye" not in await after_a_barrier(bob)


async def test_ringing_ends_at_its_limit(make_stack, people, monkeypatch):
    monkeypatch.setenv("HELIOGRAPH_INVITATION_RING_LIMIT", "2s")
    stack = make_stack(gateways=1)
    channel = unique("call")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        started = time.monotonic()
        await ring(alice, bob, channel)
        await eventually(lambda: alice.calls("invite_failed") and bob.calls("invite_bye"), "both were told")
        assert 1.5 <= time.monotonic() - started <= 8
        assert code(alice.calls("invite_failed")[0]) == 704
        assert (await after_a_barrier(alice)).count("voip_invite_failed") == 1
        assert (await after_a_barrier(bob)).count("voip_invite_bye") == 1


async def test_a_fresh_login_sees_nothing_of_the_calls_before(stack: Stack, people):
    """The Python client dies of an event of a call that it cannot know, at each login again."""
    async with people(stack) as cast:
        alice, carol = await cast.login("alice", "carol")
        bob = await cast.make("bob", polls=False).login(stack.gateways[1])
        one, two = unique("one"), unique("two")
        # An end, an acceptance and digits are queued for the session that knows the calls, and none is fetched.
        await alice.act("invite", one, bob.account)
        await bob.act("invite_ack", one, alice.account)
        await bob.act("invite_accept", one, alice.account)
        await bob.act("invite", two, carol.account)
        await eventually(lambda: carol.calls("invite"), "the second invitation")
        await carol.act("invite_ack", two, bob.account)
        await carol.act("invite_accept", two, bob.account)
        await alice.act("invite_msg", one, bob.account, '{"msgtype":"dtmf","msgdata":"1"}')
        await alice.act("invite_bye", one, bob.account)
        bob.abort()
        await eventually(bob.closed.is_set, "the connection is cut")
        await carol.act("invite_bye", two, bob.account)
        await alice.tell(bob.account, "kept")
        newer = await cast.exactly(bob.account).login(stack.gateways[0])
        kinds = await after_a_barrier(newer)
        assert kinds == [] and newer.texts()[0] == "kept"


async def test_an_end_takes_back_an_invitation_that_was_not_fetched(stack: Stack, people):
    channel = unique("call")
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        bob = await cast.make("bob", polls=False).login(stack.gateways[1])
        await alice.act("invite", channel, bob.account)
        bob.abort()
        await eventually(bob.closed.is_set, "the connection is cut")
        await alice.act("invite_bye", channel, bob.account)
        newer = await cast.exactly(bob.account).login(stack.gateways[0])
        assert await after_a_barrier(newer) == []


async def test_events_for_one_who_is_offline_are_dropped(stack: Stack, people):
    channel = unique("call")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await ring(alice, bob, channel)
        await bob.act("invite_accept", channel, alice.account)
        await bob.logout()
        await alice.attempt("voip_invite_msg", channelName=channel, peer=bob.account, extra="x")
        await alice.attempt("voip_invite_bye", channelName=channel, peer=bob.account, extra="")
        newer = await cast.exactly(bob.account).login(stack.gateways[0])
        assert await after_a_barrier(newer) == []


async def test_inviting_is_not_joining(stack: Stack, people):
    channel, other = unique("call"), unique("other")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await alice.join(other)
        await ring(alice, bob, channel)
        await bob.act("invite_accept", channel, alice.account)
        assert (await alice.call("channel_query_num", name=channel))["num"] == 0
        await bob.join(channel)
        await bob.leave(channel)
        # Leaving the channel does not end the call.
        await alice.act("invite_bye", channel, bob.account)
        await eventually(lambda: bob.calls("invite_bye"), "the end arrived")
        assert (await alice.call("channel_query_user_isin", name=other, account=alice.account))["isin"] == 1


async def test_bad_acts(stack: Stack, people):
    channel = unique("call")
    async with people(stack) as cast:
        alice, bob, eve = await cast.login("alice", "bob", "eve")
        reply = await alice.attempt("voip_invite", channelName=channel, peer=alice.account, extra="")
        assert reply.data.get("code") == 1004, "oneself"
        await ring(alice, bob, channel)
        # The caller cannot accept, a third user has no such call, and neither attempt affects the call.
        for client, peer in ((alice, bob), (eve, alice), (eve, bob)):
            for verb in ("ack", "accept", "refuse"):
                reply = await client.attempt(f"voip_invite_{verb}", channelName=channel, peer=peer.account, extra="")
                assert not reply.ok
        await bob.act("invite_accept", channel, alice.account)
        await eventually(lambda: alice.calls("invite_accept"), "the call goes on")
