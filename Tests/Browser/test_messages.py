"""Messages between users, status and remote calls."""

import pytest
from stack_control import Stack, unique
from users import WebUser
from waiting import eventually

ODD_TEXTS = ["", " leading and trailing ", "two\nlines\r\n", "a  b", '{"json":"\\u0000"}', "Ω 日本語 👩‍👩‍👧", "msg-v2 a b c d e f"]


async def test_both_ways_with_a_raw_client(stack: Stack, visit, people):
    async with visit(stack) as page, people(stack) as cast:
        raw, = await cast.login("raw")
        web = await WebUser.online(page, stack)
        for text in ODD_TEXTS:
            assert await web.ask("messageInstantSend", raw.account, text) == [False, 0]
            await raw.tell(web.account, text)
        await eventually(lambda: len(raw.texts()) == len(ODD_TEXTS), "all arrived at the raw client")
        await web.wait("onMessageInstantReceive", len(ODD_TEXTS))
        assert raw.texts(web.account) == ODD_TEXTS
        assert await web.seen("onMessageInstantReceive") == [[raw.account, 0, text] for text in ODD_TEXTS]


async def test_two_pages_on_two_gateways(stack: Stack, visit, only):
    async with visit(stack) as page:
        one, two = [await WebUser.online(page, stack, discovery=only(gateway)) for gateway in stack.gateways]
        await one.act("messageInstantSend", two.account, "ping")
        assert await two.wait("onMessageInstantReceive") == [one.account, 0, "ping"]
        await two.act("messageInstantSend", one.account, "pong")
        assert await one.wait("onMessageInstantReceive") == [two.account, 0, "pong"]


async def test_messages_wait_for_an_absent_user_and_come_once(stack: Stack, visit, people):
    # More than the client acknowledges at once, so that it acknowledges both by number and by time.
    texts = [str(number) for number in range(70)]
    async with visit(stack) as page, people(stack) as cast:
        senders = await cast.login("raw1", "raw2")
        account = unique("web")
        for number, text in enumerate(texts):
            await senders[number // 35].tell(account, text)
        web = await WebUser.login(page, stack.open_app, account)
        await web.wait("onMessageInstantReceive", len(texts))
        assert [text for _, _, text in await web.seen("onMessageInstantReceive")] == texts
        await web.act("logout")
        await web.wait("onLogout")
        again = await WebUser.login(page, stack.open_app, account)
        await again.wait("onLoginSuccess")
        await senders[0].tell(account, "later")
        await again.wait("onMessageInstantReceive")
        assert [text for _, _, text in await again.seen("onMessageInstantReceive")] == ["later"]


async def test_acknowledged_messages_do_not_come_again_even_without_a_logout(stack: Stack, visit, people):
    async with visit(stack) as page, people(stack) as cast:
        raw, = await cast.login("raw")
        account = unique("web")
        await raw.tell(account, "waits for the login")
        assert not nothing_waits(stack, account)
        web = await WebUser.login(page, stack.open_app, account)
        await web.wait("onMessageInstantReceive")
        # The web client acknowledges after a second.
        await eventually(lambda: nothing_waits(stack, account), "the message is acknowledged")
        newer = await cast.exactly(web.account).login(stack.gateways[0])
        await raw.tell(web.account, "later")
        await eventually(newer.texts, "the later message")
        assert newer.texts() == ["later"]


def nothing_waits(stack: Stack, account: str) -> bool:
    """Whether all mail of the account is forgotten, up to the last version given; Redis removes it in lots."""
    key, = stack.redis_keys(f"*{account}*:box")
    last, forgotten = (int(stack.redis("HGET", key, field) or 0) for field in ("ver", "clear"))
    return last == forgotten


async def test_what_is_refused(stack: Stack, visit, people):
    async with visit(stack) as page, people(stack) as cast:
        raw, = await cast.login("raw")
        web = await WebUser.online(page, stack)
        assert await web.ask("messageInstantSend", raw.account, "x" * 8193) == [True, 1005]
        assert await web.ask("messageInstantSend", raw.account, "x" * 8192) == [False, 0]
        failed, code = await web.ask("messageInstantSend", "no such account", "x")
        assert failed is True and code > 0
        # Without a callback, errors are told by onError.
        await web.act("messageInstantSend", raw.account, "x" * 8193)
        name, code, _ = await web.wait("onError")
        assert (name, code) == ("user_sendmsg", 1005)


async def test_more_than_the_rate_is_refused_with_400(stack: Stack, visit, people):
    async with visit(stack) as page, people(stack) as cast:
        raw, = await cast.login("raw")
        web = await WebUser.online(page, stack)
        await web.stream("messageInstantSend", raw.account, count=200, per_second=1000)
        await page.eventually("users[0].progress.sent + users[0].progress.failed.length === 200", "all are answered")
        progress = await web.progress()
        assert set(progress["failed"]) == {400}
        await eventually(lambda: len(raw.texts()) == progress["sent"], "just the others arrived")


async def test_status(stack: Stack, visit, people):
    async with visit(stack) as page, people(stack) as cast:
        raw, = await cast.login("raw")
        web = await WebUser.online(page, stack)
        nobody = unique("nobody")
        for account, status in ((raw.account, 1), (web.account, 1), (nobody, 0)):
            error, answer, *_ = await web.ask("queryUserStatus", account)
            assert (error, answer["account"], answer["status"]) == ("", account, status)


async def test_invoke(stack: Stack, visit):
    async with visit(stack) as page:
        web = await WebUser.online(page, stack)
        room = unique("room")

        async def invoke(function: str, **arguments: object) -> dict:
            error, answer, *_ = await web.ask("invoke", f"io.agora.signal.{function}", arguments)
            assert error == "" and answer["result"] == "ok", answer
            return answer

        await invoke("user_set_attr", name="color", value="blue")
        assert (await invoke("user_get_attr", account=web.account, name="color"))["value"] == "blue"
        assert (await invoke("user_get_attr_all", account=web.account))["json"] == '{"color":"blue"}'
        assert (await invoke("user_query_user_status", account=web.account))["status"] == 1
        await web.act("channelJoin", room)
        await web.wait("onChannelJoined")
        assert (await invoke("channel_query_num", name=room))["num"] == 1
        assert (await invoke("channel_query_user_isin", name=room, account=web.account))["isin"] == 1
        assert [account for account, _ in (await invoke("channel_query_userlist", name=room))["list"]] == [web.account]
        assert (await invoke("channel_query_userlist_all", name=room, num=5))["num"] == 1
        await invoke("channel_set_attr", channel=room, name="a", value="1")
        await invoke("channel_del_attr", channel=room, name="a")
        await invoke("channel_clear_attr", channel=room)


@pytest.mark.parametrize(("function", "arguments"), [
    ("io.agora.signal.no_such_function", {}), ("io.agora.other.user_get_attr", {}),
    ("io.agora.signal.user_get_attr", {"account": "x"})])
async def test_invoke_tells_errors(stack: Stack, visit, function: str, arguments: dict):
    async with visit(stack) as page:
        web = await WebUser.online(page, stack)
        error, answer, *_ = await web.ask("invoke", function, arguments)
        assert error and answer["reason"] == error and answer["code"] in (1002, 1004)
