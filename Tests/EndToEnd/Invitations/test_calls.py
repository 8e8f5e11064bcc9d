"""Invitations between two users on two gateways."""

import asyncio
import time

import pytest
from acts import mail_barrier, ring
from stack_control import Stack, unique
from waiting import eventually


@pytest.mark.every_redis
async def test_the_whole_life_of_a_call(stack: Stack, people):
    channel = unique("call")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await alice.act("invite", channel, bob.account, '{"n":1}')
        await eventually(lambda: bob.calls("invite"), "the invitation arrived")
        assert bob.calls("invite") == [
            {"channel": channel, "peer": alice.account, "extra": '{"n":1}', "peeruid": alice.uid}]
        await bob.act("invite_ack", channel, alice.account)
        await eventually(lambda: alice.calls("invite_ack"), "the acknowledgement arrived")
        assert alice.calls("invite_ack") == [
            {"channel": channel, "peer": bob.account, "extra": "", "peeruid": bob.uid}]
        await bob.act("invite_accept", channel, alice.account, '{"yes":true}')
        await eventually(lambda: alice.calls("invite_accept"), "the acceptance arrived")
        assert alice.calls("invite_accept")[0]["extra"] == '{"yes":true}'
        digits = '{"msgtype":"dtmf","msgdata":"12#"}'
        await alice.act("invite_msg", channel, bob.account, digits)
        await eventually(lambda: bob.calls("invite_msg"), "the digits arrived")
        assert bob.calls("invite_msg")[0]["extra"] == digits
        await bob.act("invite_bye", channel, alice.account)
        await eventually(lambda: alice.calls("invite_bye"), "the end arrived")
        # The call is over, so the same invitation is a new one.
        await ring(alice, bob, channel)
        assert len(bob.calls("invite")) == 2
        await bob.act("invite_refuse", channel, alice.account, '{"busy":1}')
        await eventually(lambda: alice.calls("invite_refuse"), "the refusal arrived")
        assert alice.calls("invite_refuse")[0]["extra"] == '{"busy":1}'


async def test_a_second_invitation_while_one_is_pending_is_refused(stack: Stack, people):
    channel = unique("call")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await alice.act("invite", channel, bob.account)
        again = await alice.attempt("voip_invite", channelName=channel, peer=bob.account, extra="")
        assert again.data["code"] == 701
        await eventually(lambda: bob.calls("invite"), "the invitation arrived")
        await bob.act("invite_ack", channel, alice.account)
        await bob.act("invite_accept", channel, alice.account)
        await eventually(lambda: alice.calls("invite_accept"), "the first call went on")
        assert len(bob.calls("invite")) == 1


async def test_an_offline_callee_who_comes_in_time_gets_the_invitation(stack: Stack, people):
    channel = unique("call")
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        bob = cast.make("bob")
        await alice.act("invite", channel, bob.account)
        await bob.login(stack.gateways[1])
        await eventually(lambda: bob.calls("invite"), "the invitation arrived at login")
        await bob.act("invite_ack", channel, alice.account)
        await bob.act("invite_refuse", channel, alice.account)
        await eventually(lambda: alice.calls("invite_refuse"), "the refusal arrived")


async def test_an_offline_callee_fails_a_call_that_requires_presence(stack: Stack, people):
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        nobody, channel = unique("nobody"), unique("call")
        reply = await alice.attempt(
            "voip_invite", channelName=channel, peer=nobody, extra='{"_require_peer_online":1}')
        if reply.ok:
            await eventually(lambda: alice.calls("invite_failed"), "the failure arrived")
            assert alice.calls("invite_failed")[0]["peer"] == nobody
        else:
            assert reply.data["code"] == 703
            await mail_barrier(alice)
            assert not alice.calls("invite_failed"), "the failure was the call's answer, and an event followed"


async def test_an_invitation_that_timed_out_is_gone(stack: Stack, people):
    channel = unique("call")
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        bob = cast.make("bob")
        started = time.monotonic()
        await alice.act("invite", channel, bob.account, '{"_timeout":2}')
        await eventually(lambda: alice.calls("invite_failed"), "the failure arrived")
        assert 1.5 <= time.monotonic() - started <= 6
        failed, = alice.calls("invite_failed")
        assert (failed["channel"], failed["peer"]) == (channel, bob.account)
        await bob.login(stack.gateways[1])
        await mail_barrier(bob)
        assert not [message for message in bob.messages if message.type.startswith("voip_")]


async def test_a_cancelled_invitation_is_never_seen(stack: Stack, people):
    channel = unique("call")
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        bob = cast.make("bob")
        await alice.act("invite", channel, bob.account)
        await alice.act("invite_bye", channel, bob.account)
        await bob.login(stack.gateways[1])
        await mail_barrier(bob)
        assert not [message for message in bob.messages if message.type.startswith("voip_")], \
            "the Python client dies of events of a call that it can't know"


async def test_both_may_end_at_once(stack: Stack, people):
    channel = unique("call")
    async with people(stack) as cast:
        alice, bob = await cast.login("alice", "bob")
        await ring(alice, bob, channel)
        await bob.act("invite_accept", channel, alice.account)
        await asyncio.gather(
            alice.attempt("voip_invite_bye", channelName=channel, peer=bob.account, extra=""),
            bob.attempt("voip_invite_bye", channelName=channel, peer=alice.account, extra=""))
        await mail_barrier(alice)
        await mail_barrier(bob)
        assert len(alice.calls("invite_bye")) + len(bob.calls("invite_bye")) == 1
