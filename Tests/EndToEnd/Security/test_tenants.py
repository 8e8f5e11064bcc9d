"""Two apps with equal names everywhere: nothing of one is seen, reached or guessed from the other."""

import asyncio
import json
import uuid

import pytest
from answers import LoginRefused
from apps import App, make_token
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually

# Ids of the second app, made from the first one's. Some hold the separators of Redis' keys, of lines and of tokens.
SECOND_IDS = [
    "{}2", "{}:u:ada", "{}:c:room", "{}%3Au%3Aada", "{}}}", "{{{}}}", "{}.ada", "{}:", "{}%", "a:{}", "{}:u", "{}*", "{}\\",
]


def two_apps(stack: Stack, second: str = "{}2") -> tuple[App, App]:
    first = f"T{uuid.uuid4().hex[:12]}"
    return stack.create_app(first), stack.create_app(second.format(first))


def app_with_tokens(stack: Stack, app_id: str) -> App:
    certificate = uuid.uuid4().hex
    stack.control("app", "create", f"--id={app_id}", f"--certificate={certificate}")
    return App(app_id, certificate, True)


@pytest.mark.parametrize("second", SECOND_IDS)
async def test_equal_names_in_two_apps(stack: Stack, people, second: str):
    """Users of one app do everything that users can do, while namesakes of the other app are online: nothing reaches these."""
    first, other = two_apps(stack, second)
    async with people(stack) as cast:
        here = [cast.exactly(name, first) for name in ("ada", "bob")]
        there = [cast.exactly(name, other) for name in ("ada", "bob")]
        for number, client in enumerate(here + there):
            await client.login(stack.gateways[number % 2])
        ada, bob = here
        for client in here + there:
            assert [name for name, _ in (await client.join("room"))["list"]][:1] == [client.account]
        await eventually(lambda: all(pair[0].events for pair in (here, there)), "joins are seen")
        assert [event.type for event in there[0].events] == ["channel_user_join"], "of its own app only"
        for client in there:
            client.events.clear()

        await ada.tell("bob", "to bob")
        await ada.say("room", "to the room")
        await ada.call("user_set_attr", name="mood", value="here")
        await ada.call("channel_set_attr", channel="room", name="topic", value="here")
        await ada.act("invite", "room", "bob")
        await eventually(lambda: bob.texts() == ["to bob"] and bob.calls("invite"), "bob got what was sent")
        await bob.act("invite_accept", "room", "ada")
        await eventually(lambda: ada.calls("invite_accept"), "the call is accepted")
        await meddle(there)
        for client in (ada, bob):
            await client.call("user_getmsg", ver_clear=client.version, max=30)
            assert not client.calls("invite_bye") and not client.calls("invite_refuse"), "neither of them has ended the call"
        assert len(ada.calls("invite_accept")) == 1 and not bob.calls("invite_msg")
        await ada.leave("room")
        await bob.logout()
        await check_untouched(there)


async def meddle(there: list[Client]) -> None:
    """The namesakes act on the channel and on the call that they have in common by name only, and see nothing of the other app."""
    await there[0].call("channel_set_attr", channel="room", name="own", value="there")
    for client in there:
        peer = "ada" if client.account == "bob" else "bob"
        for verb in ("accept", "refuse", "msg", "bye"):
            # This app has no such call: whatever is answered, nothing happens to the other app's.
            await client.attempt(f"voip_invite_{verb}", channelName="room", peer=peer, extra="")
    assert (await there[1].call("user_get_attr_all", account="ada"))["json"] == "{}"
    assert (await there[1].call("channel_query_num", name="room"))["num"] == 2
    listed = (await there[1].call("channel_query_userlist_all", name="room"))["list"]
    assert sorted(map(tuple, listed)) == sorted((client.account, client.uid) for client in there)


async def check_untouched(there: list[Client]) -> None:
    """The namesakes are online and in their channel, and got nothing of the other app."""
    assert (await there[0].call("user_query_user_status", account="bob"))["status"] == 1
    assert (await there[0].call("channel_query_user_isin", name="room", account="ada"))["isin"] == 1
    for client in there:
        # Whatever was sent before this answer has arrived with it.
        await client.call("user_getmsg", ver_clear=client.version, max=30)
        kinds = [(event.type, event.content.get("name")) for event in client.events]
        assert kinds == [("channel_attr_update", "own")], kinds
        assert not client.texts() and not client.calls("invite")


async def test_what_waits_for_one_is_not_the_others(stack: Stack, people):
    first, other = two_apps(stack, "{}:u:ada")
    async with people(stack) as cast:
        sender = await cast.exactly("bob", first).login(stack.gateways[0])
        for number in range(3):
            await sender.tell("ada", f"waiting {number}")
        namesake = await cast.exactly("ada", other).login(stack.gateways[1])
        reply = await namesake.call("user_getmsg", ver_clear=1 << 62, max=30)
        assert reply["msgs"] == []
        ada = await cast.exactly("ada", first).login(stack.gateways[1])
        await eventually(lambda: len(ada.texts()) == 3, "all of them are still there")
        assert ada.texts() == [f"waiting {number}" for number in range(3)]
        assert not namesake.messages and not namesake.closed.is_set(), "a login of another app kicks nobody"


async def test_message_ids_are_an_apps_own(stack: Stack, people):
    """The id that makes a repeated message take effect once, used in both apps."""
    first, other = two_apps(stack)
    async with people(stack) as cast:
        receivers = []
        for app in (first, other):
            receiver = await cast.exactly("ada", app).login(stack.gateways[0])
            sender = cast.exactly("bob", app)
            await sender.login(stack.gateways[1], push=1)
            for _ in range(2):
                await sender.call(
                    "user_sendmsg", peer="ada", flag="v1:E:3600", t="instant", content=f"in {app.id}", messageID="same")
            receivers.append((receiver, app))
        for receiver, app in receivers:
            await eventually(receiver.texts, "the message")
            await receiver.call("user_getmsg", ver_clear=0, max=30)
            assert receiver.texts() == [f"in {app.id}"]


async def test_a_line_is_good_for_its_own_session_only(stack: Stack, people):
    first, other = two_apps(stack, "{}.ada")
    async with people(stack) as cast:
        victim = await cast.exactly("ada", first).login(stack.gateways[0])
        thief = await cast.exactly("ada", other).login(stack.gateways[1])
        reply = await thief.attempt("user_sendmsg", line=victim.line, peer="bob", flag="v1:E:60", t="instant", content="x")
        assert not reply.ok
        session, secret, app, account = victim.line.split(".")
        own = thief.line.split(".")
        forged = [
            ".".join([session, secret, own[2], account]), ".".join([session, own[1], app, account]),
            ".".join([own[0], own[1], app, account]), ".".join([own[0], secret, app, account]),
            ".".join([session, secret, app + account, ""]), ".".join([session, "", app, account]),
            ".".join([session, secret, app.lower(), account]), ".".join([session, "*", app, account]),
            ".".join([session, secret, app, "%61da"])[:-1], victim.line + ".", "." + victim.line,
        ]
        for line in forged:
            guest = cast.exactly("guest", other)
            guest.line = line
            try:
                await guest.resume(stack.gateways[1])
            except (ConnectionError, TimeoutError):
                pass
            error = next((frame for frame in guest.frames if frame[0] == "line_login_ret"), None)
            assert error is None or error[1][0] != "" or json.loads(error[1][1]).get("result") != "ok", "resumed as another"
            guest.violations.clear()
        for client in (victim, thief):
            assert not client.closed.is_set()
            assert (await client.call("user_query_user_status", account="ada"))["status"] == 1


async def test_a_token_is_good_for_its_own_app_only(stack: Stack, people):
    name = f"T{uuid.uuid4().hex[:12]}"
    first, other = app_with_tokens(stack, name), app_with_tokens(stack, f"{name}:1")
    expiry = 2_000_000_000
    async with people(stack) as cast:
        tokens = [
            first.token("ada"), make_token(other.id, first.certificate, "ada", expiry),
            # A digest is made of account + app + certificate + expiry without separators: the same text, divided differently.
            make_token(first.id, other.certificate, "ada" + other.id.removeprefix(first.id), expiry),
            make_token(other.id, "", "ada", expiry), f"1:{other.id}:{expiry}:", "_no_need_token", "",
        ]
        for token in tokens:
            client = cast.exactly("ada", other, token=token)
            with pytest.raises(LoginRefused):
                await client.login(stack.gateways[0])
            client.violations.clear()
        await cast.exactly("ada", other).login(stack.gateways[0])


async def test_servers_hear_of_their_own_app_only(stack: Stack, people):
    first, other = two_apps(stack, "{}:c:_agora_user_online")
    async with people(stack) as cast:
        servers = []
        for app in (first, other):
            for channel in ("_agora_user_online", "__agora_channel_event"):
                server = await cast.exactly(unique("server"), app).login(stack.gateways[0])
                await server.join(channel)
                servers.append(server)
        mine, theirs = servers[:2], servers[2:]
        for server in servers:
            server.events.clear()
        user = await cast.exactly("ada", first).login(stack.gateways[1])
        await user.join("room")
        await user.leave("room")
        await user.logout()
        own = cast.exactly("last", other)
        await own.login(stack.gateways[1])
        await own.join("room")
        await eventually(lambda: all(server.events for server in servers), "each hears of its own app")
        await eventually(lambda: any("last" in str(event.content) for event in theirs[1].events), "the other's last act")
        for server in theirs:
            assert not [event for event in server.events if '"ada"' in json.dumps(event.content)]
        for server in mine:
            assert not [event for event in server.events if '"last"' in json.dumps(event.content)]


@pytest.mark.every_redis
async def test_the_views_keep_apps_apart(stack: Stack, people):
    first, other = two_apps(stack, "{}';--")
    async with people(stack) as cast:
        for app in (first, other):
            ada = await cast.exactly("ada", app).login(stack.gateways[0])
            await ada.join("room")
            await ada.call("channel_set_attr", channel="room", name="of", value=app.id)
        lone = await cast.exactly("bob", first).login(stack.gateways[1])
        await lone.join("room")

        def quoted(app: App) -> str:
            return "'" + app.id.replace("'", "''") + "'"

        def rows(view: str, app: App, columns: str) -> list[list[str]]:
            return sorted(stack.sql(f"select {columns} from {view} where app = {quoted(app)}"))

        expected = {
            ("online_users", first, "account"): [["ada"], ["bob"]],
            ("online_users", other, "account"): [["ada"]],
            # One row per member, not one for each app with a user of this name.
            ("channel_member_list", first, "account"): [["ada"], ["bob"]],
            ("channel_member_list", other, "account"): [["ada"]],
            ("channels", first, "channel, members, attributes"): [["room", "2", "1"]],
            ("channels", other, "channel, members, attributes"): [["room", "1", "1"]],
            ("app_usage", first, "users_online, channels, members"): [["2", "1", "2"]],
            ("app_usage", other, "users_online, channels, members"): [["1", "1", "1"]],
        }
        # PostgreSQL's views follow the state in Redis with a delay.
        await eventually(
            lambda: all(rows(*asked) == rows_ for asked, rows_ in expected.items()),
            f"the views show {list(expected.values())}", 20)


LOOKALIKES = [
    "ada", "ada:box", "ada%3Abox", "ada}", "{ada}", "ada%", "ada%25", "Ada", "\u0430da", "ada\u2024", "\u212bda", "\u00e5da", "a\u030ada",
    "ada.", ".ada", "ada\u034f", "ada\ufe0f", "\ufb01", "fi", "ada::session", "*", "a?a", "[a]da",
]


async def test_names_that_look_alike_are_different_users_and_channels(stack: Stack, people):
    app, _ = two_apps(stack)
    async with people(stack) as cast:
        users = [cast.exactly(name, app) for name in LOOKALIKES]
        for number, user in enumerate(users):
            await user.login(stack.gateways[number % 2])
        assert len({user.uid for user in users}) == len(users)
        sender = await cast.exactly("sender", app).login(stack.gateways[0])
        for number, user in enumerate(users):
            await sender.tell(user.account, f"for {number}")
            await user.call("user_set_attr", name="number", value=str(number))
            # Channels may have spaces as well.
            await user.join(user.account + " ")
        for number, user in enumerate(users):
            await eventually(user.texts, "the message came")
            assert user.texts() == [f"for {number}"]
            assert not user.closed.is_set(), "nobody was kicked by another name"
            assert (await sender.call("user_get_attr", account=user.account, name="number"))["value"] == str(number)
            assert (await user.call("channel_query_num", name=user.account + " "))["num"] == 1
            assert (await user.call("channel_query_num", name=user.account))["num"] == 0
            assert not user.events


@pytest.mark.parametrize("account", ["a b", "a\nb", "a\r", "a\u0000", "a\u2028b", "a\u0085", "\u3000", "a\tb"])
async def test_names_that_could_end_a_line_are_refused(stack: Stack, people, account: str):
    app, _ = two_apps(stack)
    async with people(stack) as cast:
        client = cast.exactly(account, app)
        with pytest.raises(LoginRefused):
            await client.login(stack.gateways[0])
        client.violations.clear()
        ada = await cast.exactly("ada", app).login(stack.gateways[0])
        reply = await ada.attempt("user_sendmsg", peer=account, flag="v1:E:60", t="instant", content="x")
        assert not reply.ok
        if account not in ("a b", "\u3000", "a\u2028b"):
            reply = await ada.attempt("channel_join", name=account)
            assert not reply.ok
        await asyncio.wait_for(ada.ping(), 5)
