"""Channels: members, talk and attributes, over two gateways."""

from stack_control import Stack, unique
from users import WebUser
from waiting import eventually


async def test_talk_between_two_gateways(stack: Stack, visit, people, only):
    room = unique("room with spaces")
    async with visit(stack) as page, people(stack) as cast:
        raw, = await cast.members(room, "raw", gateway=1)
        one = await WebUser.online(page, stack, room=room, discovery=only(stack.gateways[0]))
        two = await WebUser.online(page, stack, room=room, discovery=only(stack.gateways[1]))
        uid = (await two.seen("onLoginSuccess"))[0][0]
        assert await one.wait("onChannelUserJoined") == [two.account, uid]
        users, = await two.wait("onChannelUserList")
        assert {account for account, _ in users} == {raw.account, one.account, two.account}
        await two.ask("messageChannelSend", "from two", on="channel")
        await raw.say(room, "from raw")
        for user in (one, two):
            await user.wait("onMessageChannelReceive", 2)
            assert await user.seen("onMessageChannelReceive") == [
                [two.account, uid, "from two"], [raw.account, raw.uid, "from raw"]]
        assert [event.content["msg"] for event in raw.of_type("channel_msg")] == ["from two", "from raw"]
        await two.act("channelLeave", on="channel")
        assert await two.wait("onChannelLeaved") == [602]
        assert await one.wait("onChannelUserLeaved") == [two.account, uid]
        assert await page.evaluate("users[1].channel.state") == "leaved"
        # No longer a member.
        assert (await two.ask("messageChannelSend", "from outside", on="channel"))[0] is True
        assert not await two.seen("onError")


async def test_leaving_with_a_callback(stack: Stack, visit):
    async with visit(stack) as page:
        user = await WebUser.online(page, stack, room=unique("room"))
        assert await user.ask("channelLeave", on="channel") == [False, 0]
        assert not await user.seen("onChannelLeaved")


async def test_joining_another_channel_leaves_the_first(stack: Stack, visit, people):
    first, second = unique("room"), unique("room")
    async with visit(stack) as page, people(stack) as cast:
        watcher, = await cast.members(first, "watcher")
        user = await WebUser.online(page, stack, room=first)
        await page.evaluate("users[0].old = users[0].channel, 0")
        await user.act("channelJoin", second)
        await user.wait("onChannelJoined", 2)
        await eventually(lambda: watcher.of_type("channel_user_leave"), "the others of the first see the leave")
        assert await page.evaluate("[users[0].old.state, users[0].channel.state]") == ["leaved", "joined"]
        await watcher.say(first, "not for you")
        await watcher.call("channel_sendmsg", name=second, msg="for you", force=True)
        await user.wait("onMessageChannelReceive")
        assert [text for _, _, text in await user.seen("onMessageChannelReceive")] == ["for you"]


async def test_a_join_that_fails(stack: Stack, visit):
    async with visit(stack) as page:
        user = await WebUser.online(page, stack, room=unique("room"))
        await user.act("channelJoin", "x" * 129)
        code, = await user.wait("onChannelJoinFailed")
        assert code > 0
        await page.evaluate("users[0].session.logout(), 0")
        await user.wait("onLogout")
        assert await user.seen("onChannelLeaved") == [[603]], "still in the first channel until then"
        await user.act("channelJoin", "late")
        assert await user.wait("onChannelJoinFailed", 2) == [1003]


async def test_attributes(stack: Stack, visit, people):
    room = unique("room")
    async with visit(stack) as page, people(stack) as cast:
        raw, = await cast.login("raw")
        await raw.call("channel_set_attr", channel=room, name="topic", value="tea")
        user = await WebUser.online(page, stack, room=room)
        assert await user.wait("onChannelAttrUpdated") == ["topic", "tea", "update"]
        names = [name for name, *_ in await user.log()]
        assert names == ["onLoginSuccess", "onChannelJoined", "onChannelUserList", "onChannelAttrUpdated"]
        assert await user.ask("channelSetAttr", "topic", "coffee", on="channel") == [False, 0]
        await raw.call("channel_set_attr", channel=room, name="number", value=30)
        assert await user.ask("channelDelAttr", "topic", on="channel") == [False, 0]
        assert await user.ask("channelClearAttr", on="channel") == [False, 0]
        await user.wait("onChannelAttrUpdated", 5)
        assert (await user.seen("onChannelAttrUpdated"))[1:] == [
            ["topic", "coffee", "update"], ["number", "30", "update"], ["topic", "", "del"], ["", "", "clear"]]
        assert await user.ask("channelSetAttr", "big", "x" * 8097, on="channel") == [True, 1005]
        assert await user.ask("channelSetAttr", "_unknown", "x", on="channel") == [True, 1004]


async def test_the_special_channel_of_logins_in_both_spellings(stack: Stack, visit, people):
    app = stack.create_app(unique("app").replace("-", ""))
    async with visit(stack) as page, people(stack) as cast:
        users = []
        for name in ("_agora_user_online", "__agora_user_online"):
            user = await WebUser.login(page, app, unique("web"))
            await user.wait("onLoginSuccess")
            await user.act("channelJoin", name)
            await user.wait("onChannelJoined")
            users.append(user)
        raw, = await cast.login("raw", app=app)
        for number, user in enumerate(users):
            await page.eventually(
                f"users[{number}].log.some(([name, account]) => name === 'onMessageChannelReceive' "
                f"&& account === '{raw.account}')", "the login is told")
