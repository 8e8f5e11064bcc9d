"""Broken connections: the session resumes at another gateway, and nothing is lost or delivered twice."""

import asyncio

import pytest
from pages import Site
from signaling import Client
from stack_control import Stack, unique
from users import WebUser
from waiting import eventually, spaced
from web import metric
from wires import Wire

PER_SECOND = 40


async def send_numbers(count: int, send) -> None:
    """Calls `send` with "0", "1"... at a rate below all limits."""
    async for number in spaced(count, PER_SECOND):
        await send(str(number))


async def expect_once_in_order(user: WebUser, callback: str, source: Client, count: int) -> None:
    await user.wait(callback, count, seconds=60)
    texts = [text for account, _, text in await user.seen(callback) if account == source.account]
    assert texts == [str(number) for number in range(count)]


async def expect_unnoticed(watcher: Client, account: str) -> None:
    """Nobody has seen the user join again or leave."""
    moves = [event.type for event in watcher.events if event.type != "channel_msg" and event.account == account]
    assert moves == ["channel_user_join"]


@pytest.mark.parametrize("end", ["kill", "drain"])
async def test_a_gateway_goes_while_messages_arrive_and_are_sent(make_stack, visit, people, site: Site, end: str):
    count, room, stack = 200, unique("room"), make_stack(gateways=2)
    async with visit(stack) as page, people(stack) as cast:
        raw, listener = await cast.members(room, "raw", "listener", gateway=1)
        site.only = stack.gateways[:1]
        web = await WebUser.online(page, stack, room=room)
        # From now on discovery lists both gateways; the page asks the one that stays.
        site.only, site.discovery = None, stack.endpoints["gateways"][1]["http"]
        await page.run("stream", web.number, "session", "messageInstantSend", [listener.account], count, PER_SECOND)

        async def end_gateway() -> None:
            await web.wait("onMessageChannelReceive", count // 4, seconds=60)
            await asyncio.to_thread(getattr(stack, end), "gateway#1")

        async def both(text: str) -> None:
            await asyncio.gather(raw.tell(web.account, text), raw.say(room, text))

        await asyncio.gather(send_numbers(count, both), end_gateway())
        await web.wait("onReconnected")
        assert await web.status() == 2
        await expect_once_in_order(web, "onMessageInstantReceive", raw, count)
        await expect_once_in_order(web, "onMessageChannelReceive", raw, count)
        await page.eventually(f"users[0].progress.sent === {count}", f"all are answered: {await web.progress()}", 60)
        await eventually(lambda: len(listener.texts(web.account)) >= count, "all arrived", 20)
        assert listener.texts(web.account) == [str(number) for number in range(count)]
        assert not await web.seen("onError") + await web.seen("onChannelLeaved") + await web.seen("onLogout")
        await expect_unnoticed(listener, web.account)


async def test_cut_again_and_again_in_the_midst_of_a_thousand(stack: Stack, visit, people, only):
    count, room = 1000, unique("room")
    async with (
        visit(stack) as page, people(stack) as cast, Wire(stack.gateways[0]) as one, Wire(stack.gateways[1]) as two,
    ):
        raw, listener = await cast.members(room, "raw", "listener")
        web = await WebUser.online(page, stack, room=room, discovery=only(one.port, two.port))

        async def both(text: str) -> None:
            await asyncio.gather(raw.tell(web.account, text), raw.say(room, text))

        async def cut() -> None:
            for turn in range(1, 5):
                await web.wait("onMessageInstantReceive", count * turn // 5, seconds=60)
                one.cut()
                two.cut()
                await web.wait("onReconnected", turn)

        await page.run("stream", web.number, "channel", "messageChannelSend", [], count, PER_SECOND)
        await asyncio.gather(send_numbers(count, both), cut())
        await expect_once_in_order(web, "onMessageInstantReceive", raw, count)
        await web.wait("onMessageChannelReceive", 2 * count - 1, seconds=60)
        assert not await web.seen("onError")
        await expect_once_in_order(web, "onMessageChannelReceive", raw, count)
        await eventually(
            lambda: len([e for e in listener.of_type("channel_msg") if e.account == web.account]) >= count, "all arrived")
        sent = [event.content["msg"] for event in listener.of_type("channel_msg") if event.account == web.account]
        assert sent == [str(number) for number in range(count)]
        assert (await web.progress()) == {"sent": count, "failed": []}
        assert one.opened and two.opened, "both gateways were used"
        await expect_unnoticed(listener, web.account)


async def test_what_is_called_without_a_connection_is_done_after_it(stack: Stack, visit, people, only):
    room, backlog = unique("room"), 150
    async with visit(stack) as page, people(stack) as cast, Wire(stack.gateways[0]) as wire:
        raw, = await cast.login("raw")
        web = await WebUser.online(page, stack, room=room, discovery=only(wire.port))
        wire.cut()
        await web.wait("onReconnecting")
        # More than a gateway accepts in a second.
        await page.run("stream", web.number, "session", "messageInstantSend", [raw.account], backlog, 10_000)
        assert await web.ask("channelSetAttr", "topic", "tea", on="channel") == [False, 0]
        await page.eventually(f"users[0].progress.sent === {backlog}", f"all are answered: {await web.progress()}")
        await eventually(lambda: len(raw.texts()) == backlog, "all arrived")
        assert raw.texts() == [str(number) for number in range(backlog)]
        assert await web.wait("onChannelAttrUpdated") == ["topic", "tea", "update"]


async def test_messages_whose_answers_are_lost_are_delivered_once(stack: Stack, visit, people, only):
    room = unique("room")
    async with visit(stack) as page, people(stack) as cast, Wire(stack.gateways[0]) as wire:
        raw, = await cast.members(room, "raw")
        web = await WebUser.online(page, stack, room=room, discovery=only(wire.port))
        wire.mute()
        await page.run("stream", web.number, "session", "messageInstantSend", [raw.account], 10, 100)
        await eventually(lambda: len(raw.texts()) == 10, "the instant messages arrived")
        assert await web.progress() == {"sent": 0, "failed": []}
        await web.act("messageChannelSend", "only once", on="channel")
        await eventually(lambda: raw.of_type("channel_msg"), "the channel message arrived")
        wire.cut()
        await page.eventually("users[0].progress.sent === 10", "all are answered")
        assert await web.ask("messageChannelSend", "last", on="channel") == [False, 0]
        await raw.tell(raw.account, "last")
        await eventually(lambda: "last" in raw.texts(), "the last message arrived")
        assert raw.texts(web.account) == [str(number) for number in range(10)]
        await eventually(lambda: len(raw.of_type("channel_msg")) > 1, "the last channel message arrived")
        assert [event.content["msg"] for event in raw.of_type("channel_msg")] == ["only once", "last"]


async def test_events_right_after_the_join_are_not_lost(stack: Stack, visit, people, only):
    room = unique("room")
    async with visit(stack) as page, people(stack) as cast, Wire(stack.gateways[0]) as wire:
        raw, = await cast.members(room, "raw")
        await raw.say(room, "before the join")
        web = await WebUser.online(page, stack, room=room, discovery=only(wire.port))
        wire.cut()
        await raw.say(room, "while away")
        await web.wait("onReconnected")
        await raw.say(room, "after")
        await page.eventually("users[0].log.at(-1)[3] === 'after'", "the last message arrived")
        assert [text for _, _, text in await web.seen("onMessageChannelReceive")] == ["while away", "after"]


async def test_an_invitation_whose_answer_is_lost_is_made_once(stack: Stack, visit, people, only):
    channel = unique("call")
    async with visit(stack) as page, people(stack) as cast, Wire(stack.gateways[0]) as wire:
        raw, = await cast.login("raw")
        web = await WebUser.online(page, stack, discovery=only(wire.port))
        wire.mute()
        await web.act("channelInviteUser2", channel, raw.account, "")
        await eventually(lambda: raw.calls("invite"), "the invitation arrived")
        wire.cut()
        await web.wait("onReconnected")
        await raw.act("invite_ack", channel, web.account)
        await raw.act("invite_accept", channel, web.account)
        await web.wait("onInviteAcceptedByPeer")
        assert len(raw.calls("invite")) == 1 and not await web.seen("onInviteFailed")


async def test_a_connection_that_went_silent_is_noticed(stack: Stack, visit, people, only):
    room = unique("room")
    async with visit(stack) as page, people(stack) as cast, Wire(stack.gateways[0]) as wire:
        raw, = await cast.members(room, "raw")
        web = await WebUser.online(page, stack, room=room, discovery=only(wire.port))
        await raw.say(room, "first")
        await web.wait("onMessageChannelReceive")
        wire.silence()
        await raw.tell(web.account, "meanwhile")
        await raw.say(room, "second")
        # The client notices by its own pings, before the gateway closes a connection that was silent for 45 s.
        await web.wait("onReconnecting", seconds=38)
        wire.restore()
        await web.wait("onReconnected")
        assert await web.wait("onMessageInstantReceive") == [raw.account, 0, "meanwhile"]
        await web.wait("onMessageChannelReceive", 2)
        assert [text for _, _, text in await web.seen("onMessageChannelReceive")] == ["first", "second"]


async def test_logging_out_without_a_connection(stack: Stack, visit, only):
    async with visit(stack) as page, Wire(stack.gateways[0]) as wire:
        web = await WebUser.online(page, stack, discovery=only(wire.port))
        wire.close()
        await web.wait("onReconnecting")
        assert await web.status() == 3
        await web.act("logout")
        assert await web.wait("onLogout") == [101]


async def test_a_session_that_ended_in_the_absence(stack: Stack, visit, people, only):
    async with visit(stack) as page, people(stack) as cast, Wire(stack.gateways[0]) as wire:
        web = await WebUser.online(page, stack, room=unique("room"), discovery=only(wire.port))
        wire.close()
        await web.wait("onReconnecting")
        # Another device logs in, so the line is dead.
        await cast.exactly(web.account).login(stack.gateways[1])
        await wire.open()
        assert (await web.wait("onLogout", seconds=40))[0] in (102, 103)
        assert len(await web.seen("onChannelLeaved")) == 1


def failed_calls(stack: Stack) -> float:
    """Calls that gateways have answered with an error."""
    return sum(metric(gateway["http"], "heliograph_gateway_call_failures_total") for gateway in stack.endpoints["gateways"])


async def test_messages_that_the_gateway_gave_up_arrive_once(make_stack, visit, people):
    # Redis is frozen for longer than the gateway retries: the outcome is unknown, so the client sends them again.
    count, stack = 20, make_stack(gateways=1)
    async with visit(stack) as page, people(stack) as cast:
        raw, = await cast.login("raw")
        web = await WebUser.online(page, stack)
        stack.freeze_redis()
        await page.run("stream", web.number, "session", "messageInstantSend", [raw.account], count, PER_SECOND)
        await eventually(lambda: failed_calls(stack) > 0, "the gateway gives up", 20)
        stack.thaw_redis()
        await page.eventually(f"users[0].progress.sent === {count}", f"all are answered: {await web.progress()}", 30)
        await eventually(lambda: len(raw.texts(web.account)) >= count, "all arrived", 20)
        assert raw.texts(web.account) == [str(number) for number in range(count)]
