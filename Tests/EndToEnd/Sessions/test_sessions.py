"""Logins, kicks, logouts, lost connections and lost gateways."""

import asyncio
import time
from urllib.error import HTTPError

import pytest
from acts import barrier
from answers import LoginRefused
from apps import App, make_token
from stack_control import Stack, unique
from waiting import eventually
from web import discover, fetch


def comings_and_goings(client) -> list[tuple[str, str]]:
    return [(event.type, event.account) for event in client.events if event.type != "channel_msg"]


@pytest.mark.every_redis
@pytest.mark.parametrize("second", [0, 1], ids=["same gateway", "other gateway"])
async def test_a_second_login_kicks_the_first(stack: Stack, people, second: int):
    async with people(stack) as cast:
        first = cast.make("alice")
        await first.login(stack.gateways[0])
        newer = cast.exactly(first.account)
        await newer.login(stack.gateways[second])
        await eventually(first.closed.is_set, "the old connection is closed")
        assert first.close_frame is not None, "web SDK 1.3 notices a kick by the close frame alone"
        assert newer.line != first.line and newer.uid == first.uid
        await newer.tell(newer.account, "note")
        await eventually(newer.texts, "the newer session works")
        # The old line is no longer valid.
        await first.connect(stack.gateways[0])
        await first.send("line_login", {"line": first.line})
        await eventually(first.closed.is_set, "the dead line is refused")
        assert not newer.closed.is_set()


async def test_a_kicked_user_leaves_its_channel(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        watcher, first = await cast.members(channel, "watcher", "alice")
        newer = cast.exactly(first.account)
        await newer.login(stack.gateways[0])
        await eventually(lambda: watcher.of_type("channel_user_leave"), "the leave of the old session is seen")
        assert (await watcher.call("channel_query_user_isin", name=channel, account=first.account))["isin"] == 0


async def test_many_logins_at_once_leave_one(stack: Stack, people):
    async with people(stack) as cast:
        clients = [cast.make("alice")]
        clients += [cast.exactly(clients[0].account) for _ in range(9)]
        outcomes = await asyncio.gather(
            *[client.login(stack.gateways[n % 2]) for n, client in enumerate(clients)], return_exceptions=True)
        # Some are kicked before the answer to their login.
        odd = [one for one in outcomes if isinstance(one, Exception)
               and not isinstance(one, ConnectionError) and not (isinstance(one, LoginRefused) and one.error == "kick")]
        assert not odd
        await eventually(lambda: sum(not client.closed.is_set() for client in clients) == 1, "one connection is left")
        last, = [client for client in clients if not client.closed.is_set()]
        await last.tell(last.account, "note")
        await eventually(last.texts, "it works")


async def test_logout_is_answered_then_closed(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        watcher, alice = await cast.members(channel, "watcher", "alice")
        await alice.logout()
        assert alice.close_code in (1000, 1001)
        await eventually(lambda: watcher.of_type("channel_user_leave"), "the others see the leave")
        assert (await watcher.call("user_query_user_status", account=alice.account))["status"] == 0
        await alice.connect(stack.gateways[0])
        await alice.send("line_login", {"line": alice.line})
        await eventually(alice.closed.is_set, "the line of a session that logged out is refused")
        # Kept for the next login.
        await watcher.tell(alice.account, "later")
        await alice.login(stack.gateways[1])
        await eventually(alice.texts, "the message of the absence arrived")


@pytest.mark.every_redis
async def test_resume_on_another_gateway_is_invisible(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        watcher, alice = await cast.members(channel, "watcher", "alice", gateway=0)
        await watcher.say(channel, "one")
        await eventually(lambda: alice.of_type("channel_msg"), "the first message")
        seen = alice.channel_mark
        alice.abort()
        await eventually(alice.closed.is_set, "the connection is cut")
        await watcher.say(channel, "two")
        await watcher.tell(alice.account, "while away")
        assert (await watcher.call("user_query_user_status", account=alice.account))["status"] == 1
        answer = await alice.resume(stack.gateways[1], channel=channel, after=seen)
        assert (answer["line"], answer["uid"], answer["resumed"], answer["complete"]) \
            == (alice.line, alice.uid, True, True)
        await eventually(alice.texts, "the message of the absence, which the server must notify of")
        await watcher.say(channel, "three")
        await alice.say(channel, "four")
        await eventually(lambda: len(alice.of_type("channel_msg")) >= 4, "all messages")
        assert [event.content["msg"] for event in alice.of_type("channel_msg")] == ["one", "two", "three", "four"]
        await barrier(watcher, channel, watcher)
        assert comings_and_goings(watcher) == [("channel_user_join", alice.account)]


async def test_resume_takes_over_from_a_socket_that_still_stands(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        watcher, alice = await cast.members(channel, "watcher", "alice")
        old_socket = alice._socket
        await alice.resume(stack.gateways[0])
        await asyncio.wait_for(old_socket.wait_closed(), 10)
        assert alice.close_frame is None, "the older socket is dropped silently"
        await alice.say(channel, "hello")
        await barrier(watcher, channel, watcher, alice)
        assert comings_and_goings(watcher) == [("channel_user_join", alice.account)]


async def test_an_absence_longer_than_conn_timeout_ends_the_session(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        watcher, alice = await cast.login("watcher", "alice")
        await watcher.join(channel)
        await alice.call("user_set_attr", name="_conn_timeout", value="20")
        await alice.join(channel)
        alice.abort()
        cut = time.monotonic()
        await eventually(lambda: watcher.of_type("channel_user_leave"), "the leave is seen", 30)
        assert 18 <= time.monotonic() - cut <= 25
        assert (await watcher.call("user_query_user_status", account=alice.account))["status"] == 0
        await alice.connect(stack.gateways[0])
        await alice.send("line_login", {"line": alice.line})
        await eventually(alice.closed.is_set, "the line is dead")
        assert alice.close_frame is not None
        await alice.login(stack.gateways[0])
        # The clamp's lower end: a smaller value counts as 20.
        await alice.call("user_set_attr", name="_conn_timeout", value="1")
        await alice.join(channel)
        alice.abort()
        await eventually(alice.closed.is_set, "the connection is cut")
        assert (await watcher.call("user_query_user_status", account=alice.account))["status"] == 1
        await alice.resume(stack.gateways[1])
        await barrier(watcher, channel, watcher)
        assert len(watcher.of_type("channel_user_leave")) == 1


async def test_tokens(stack: Stack, people):
    app = stack.token_app
    async with people(stack) as cast:
        good, = await cast.login("alice", app=app)
        assert good.uid

        now = int(time.time())
        bad = {
            "TokenErrorExpired": make_token(app.id, app.certificate, good.account, now - 10),
            "TokenErrorRequired": "_no_need_token",
            "TokenErrorDigest": make_token(app.id, "0" * 32, good.account, now + 60),
            "TokenErrorApp": make_token("another", app.certificate, good.account, now + 60),
            "TokenErrorMalformed": "nonsense",
        }
        for reason, token in bad.items():
            client = cast.exactly(good.account, app, token=token)
            with pytest.raises(LoginRefused) as refused:
                await client.login(stack.gateways[1])
            assert refused.value.error == reason
            assert refused.value.data["reason"] == reason and refused.value.data["result"] != "ok"
            await eventually(client.closed.is_set, "the close after the refusal, which the Python client needs")
        # An expired token that was made for another account is wrong, not expired.
        other = cast.make("bob", app, token=make_token(app.id, app.certificate, good.account, now - 10))
        with pytest.raises(LoginRefused) as refused:
            await other.login(stack.gateways[0])
        assert refused.value.error.startswith("TokenError") and refused.value.error != "TokenErrorExpired"
        assert not good.closed.is_set(), "a refused login kicked the real user"


async def test_the_oldest_clients_send_the_app_in_the_token(stack: Stack, people):
    app = stack.token_app
    async with people(stack) as cast:
        client = cast.make("old", app)
        await client.connect(stack.gateways[0])
        await client.send("login", {
            "account": client.account, "uid": 0, "token": client.token, "device": "websdk", "ip": ""})
        error, _ = await client._answer("login_ret")
        assert error == ""


async def test_an_unknown_app_is_refused(stack: Stack, people):
    async with people(stack) as cast:
        client = cast.make("alice", App(unique("noapp")))
        with pytest.raises(LoginRefused):
            await client.login(stack.gateways[0])
        await eventually(client.closed.is_set, "the close after the refusal")


async def test_a_drained_gateway_sends_its_users_on_and_nobody_goes_offline(make_stack, people):
    stack = make_stack(gateways=2)
    channel = unique("room")
    async with people(stack) as cast:
        watcher, = await cast.login("watcher", gateway=0)
        movers = await cast.login(*[f"mover{n}" for n in range(5)], gateway=1)
        await watcher.join(channel)
        for mover in movers:
            await mover.join(channel)
        draining = asyncio.create_task(asyncio.to_thread(stack.drain, "gateway#2"))

        async def move(mover) -> None:
            await asyncio.wait_for(mover.closed.wait(), 40)
            await mover.resume(stack.gateways[0])
            await mover.say(channel, f"{mover.account} moved")

        await asyncio.gather(*[move(mover) for mover in movers])
        await draining
        await barrier(watcher, channel, watcher, *movers)
        assert comings_and_goings(watcher) == [("channel_user_join", mover.account) for mover in movers]
        assert len(watcher.of_type("channel_msg")) == len(movers) + 1


async def test_a_stopping_gateway_accepts_clients_until_load_balancers_know(make_stack, people, monkeypatch):
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_LINGER", "5s")
    stack = make_stack(gateways=2)
    first, second = stack.endpoints["gateways"]

    def is_ready() -> bool:
        try:
            with fetch(f"{second['http']}/readyz"):
                return True
        except HTTPError as error:
            assert error.code == 503
            return False

    def is_listed() -> bool:
        return int(second["ws"].rsplit(":", 1)[1]) in {port for _, port in discover(first["http"], vid=stack.open_app.id)["web"]}

    async with people(stack) as cast:
        early, = await cast.login("early", gateway=1)
        draining = asyncio.create_task(asyncio.to_thread(stack.drain, "gateway#2"))
        await eventually(lambda: not is_ready(), "a balancer to learn that the gateway stops")
        await eventually(lambda: not is_listed(), "discovery to forget the gateway")
        late, = await cast.login("late", gateway=1)
        assert await early.ping(1) == 1 and await late.ping(2) == 2
        for client in (early, late):
            await asyncio.wait_for(client.closed.wait(), 40)
            await client.resume(stack.gateways[0])
        await draining


async def test_a_killed_gateways_users_resume_elsewhere_or_go_offline(make_stack, people):
    stack = make_stack(gateways=2)
    gateways, channel = stack.gateways, unique("room")
    async with people(stack) as cast:
        watcher, = await cast.login("watcher", gateway=0)
        mover, lost = await cast.login("mover", "lost", gateway=1)
        await watcher.join(channel)
        for client in (mover, lost):
            await client.call("user_set_attr", name="_conn_timeout", value="20")
            await client.join(channel)
        killed = time.monotonic()
        await asyncio.to_thread(stack.kill, "gateway#2")
        await eventually(lambda: mover.closed.is_set() and lost.closed.is_set(), "the connections broke")
        await watcher.tell(mover.account, "while away")
        answer = await mover.resume(gateways[0], channel=channel, after=mover.channel_mark)
        assert answer["resumed"] is True
        await eventually(mover.texts, "the message of the absence")
        await mover.say(channel, "moved")
        # Nobody reported the lost one's absence: presence finds out by the gateway's lease, within 10 s.
        await eventually(lambda: watcher.of_type("channel_user_leave"), "the lost user goes offline", 40)
        assert time.monotonic() - killed >= 18
        assert comings_and_goings(watcher) == [
            ("channel_user_join", mover.account), ("channel_user_join", lost.account),
            ("channel_user_leave", lost.account)]
        assert (await watcher.call("user_query_user_status", account=lost.account))["status"] == 0
        assert (await watcher.call("user_query_user_status", account=mover.account))["status"] == 1
        # After a start the gateway serves again.
        await asyncio.to_thread(stack.start, "gateway#2")
        await lost.login(gateways[1])
        await lost.join(channel)
        await barrier(watcher, channel, watcher, mover, lost)
