"""Invitations between two pages, and between a page and a raw client."""

import json

from stack_control import Stack, unique
from users import WebUser
from waiting import eventually


async def pair(page, stack: Stack, only) -> list[WebUser]:
    """Two users on two gateways."""
    return [await WebUser.online(page, stack, discovery=only(gateway)) for gateway in stack.gateways]


async def test_accepted_with_digits_and_ended_by_the_callee(stack: Stack, visit, only):
    channel = unique("call")
    async with visit(stack) as page:
        alice, bob = await pair(page, stack, only)
        uid, = (await alice.seen("onLoginSuccess"))[0]
        await alice.act("channelInviteUser2", channel, bob.account, '{"n":1}')
        assert await bob.wait("onInviteReceived") == [channel, alice.account, '{"n":1}', uid]
        assert await alice.wait("onInviteReceivedByPeer") == [""]
        await bob.act("channelInviteAccept", '{"yes":true}', on="call")
        assert await alice.wait("onInviteAcceptedByPeer") == ['{"yes":true}']
        await alice.act("channelInviteDTMF", "12#", on="call")
        extra, = await bob.wait("onInviteMsg")
        assert json.loads(extra) == {"msgtype": "dtmf", "msgdata": "12#"}
        await bob.act("channelInviteDTMF", "*9", on="call")
        extra, = await alice.wait("onInviteMsg")
        assert json.loads(extra) == {"msgtype": "dtmf", "msgdata": "*9"}
        await bob.act("channelInviteEnd", '{"bye":1}', on="call")
        assert await bob.wait("onInviteEndByMyself") == [""]
        assert await alice.wait("onInviteEndByPeer") == ['{"bye":1}']
        # It is over, so that the same invitation is a new one.
        await alice.act("channelInviteUser", channel, bob.account)
        assert await bob.wait("onInviteReceived", 2) == [channel, alice.account, "", uid]
        await alice.wait("onInviteReceivedByPeer", 2)
        await bob.act("channelInviteRefuse", '{"busy":1}', on="call")
        assert await alice.wait("onInviteRefusedByPeer") == ['{"busy":1}']
        assert not await alice.seen("onInviteFailed") + await alice.seen("onError") + await bob.seen("onError")


async def test_ended_by_the_caller_before_an_answer(stack: Stack, visit, only):
    async with visit(stack) as page:
        alice, bob = await pair(page, stack, only)
        await alice.act("channelInviteUser2", unique("call"), bob.account, "")
        await bob.wait("onInviteReceived")
        await alice.act("channelInviteEnd", on="call")
        await alice.wait("onInviteEndByMyself")
        assert await bob.wait("onInviteEndByPeer") == [""]


async def test_with_a_raw_client_on_either_side(stack: Stack, visit, people):
    channel = unique("call")
    async with visit(stack) as page, people(stack) as cast:
        raw, = await cast.login("raw")
        web = await WebUser.online(page, stack)
        await raw.act("invite", channel, web.account, '{"n":2}')
        await web.wait("onInviteReceived")
        await eventually(lambda: raw.calls("invite_ack"), "the web client acknowledges")
        await web.act("channelInviteRefuse", "", on="call")
        await eventually(lambda: raw.calls("invite_refuse"), "the refusal arrived")
        await web.act("channelInviteUser2", channel, raw.account, "")
        await eventually(lambda: raw.calls("invite"), "the invitation arrived")
        await raw.act("invite_ack", channel, web.account)
        await raw.act("invite_accept", channel, web.account, '{"ok":1}')
        assert await web.wait("onInviteAcceptedByPeer") == ['{"ok":1}']


async def test_failures(stack: Stack, visit, people):
    async with visit(stack) as page, people(stack) as cast:
        raw, = await cast.login("raw")
        web = await WebUser.online(page, stack)
        nobody = unique("nobody")
        await web.act("channelInviteUser2", unique("call"), nobody, '{"_require_peer_online":1}')
        assert (await web.wait("onInviteFailed"))[1] == 703
        # The raw client never acknowledges.
        await web.act("channelInviteUser2", unique("call"), raw.account, '{"_timeout":1}')
        assert (await web.wait("onInviteFailed", 2))[1] == 704
        channel = unique("call")
        await web.act("channelInviteUser2", channel, raw.account, "")
        await web.act("channelInviteUser2", channel, raw.account, "")
        assert (await web.wait("onInviteFailed", 3))[1] == 701
        await web.act("channelInviteUser2", channel, raw.account, "no JSON")
        assert (await web.wait("onInviteFailed", 4))[1] == 1004
        await web.act("channelInviteDTMF", "no digits", on="call")
        assert (await web.wait("onError"))[0] == "voip_invite_msg"
