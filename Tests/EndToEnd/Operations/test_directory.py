"""`heliographctl user`, `channel`, `call` and `send`: what is there, page by page, and a message from an operator."""

import json
import re
import time

import pytest
from answers import LoginRefused
from server_api import ServerAPI, create_key
from stack_control import BINARIES, Stack, run_program, unique
from waiting import eventually


def control(stack: Stack, *arguments: str) -> dict:
    return json.loads(stack.control(*arguments, "--json"))


def refused(stack: Stack, *arguments: str) -> tuple[int, str]:
    """The exit code and the message of a command that fails."""
    found = stack.endpoints
    done = run_program(
        str(BINARIES / "heliographctl"), *arguments, HELIOGRAPH_POSTGRES_URL=found["postgres"]["url"],
        HELIOGRAPH_REDIS_URL=found["redis"]["url"])
    assert done.returncode != 0 and not done.stdout
    return done.returncode, done.stderr


async def test_users(stack: Stack, people):
    app = f"--app={stack.open_app.id}"
    async with people(stack) as cast:
        prefix = unique("list")
        clients = [cast.exactly(f"{prefix}-{number}") for number in range(5)]
        for number, client in enumerate(clients):
            await client.login(stack.gateways[number % 2])
        accounts = [client.account for client in clients]

        def listed(*more: str) -> dict:
            return control(stack, "user", "list", app, f"--prefix={prefix}", *more)

        await eventually(lambda: [user["account"] for user in listed()["users"]] == accounts, "the copies are written", 30)
        # Pages follow each other without gap or repetition; the last one says so.
        first = listed("--limit=2")
        second = listed("--limit=2", f"--after={first['next']}")
        third = listed("--limit=2", f"--after={second['next']}")
        pages = [[user["account"] for user in page["users"]] for page in (first, second, third)]
        assert pages == [accounts[:2], accounts[2:4], accounts[4:]] and third["next"] is None
        assert "more: --after " in stack.control("user", "list", app, f"--prefix={prefix}", "--limit=2")
        user = first["users"][0]
        assert set(user) == {"account", "device", "gateway", "since", "state", "uid"} and user["state"] == "connected"
        at = listed(f"--gateway={user['gateway']}")["users"]
        assert accounts[0] in [each["account"] for each in at] and accounts[1] not in [each["account"] for each in at]
        assert listed("--gateway=none")["users"] == []

        # One user, with what others can see and with text that a terminal must not act on.
        await clients[0].join(f"{prefix} room")
        await clients[0].call("user_set_attr", name="mood", value="red\x1b[31m")
        await eventually(
            lambda: control(stack, "user", "show", app, f"--account={accounts[0]}")["channels"] == [f"{prefix} room"],
            "the membership is written", 30)
        shown = control(stack, "user", "show", app, f"--account={accounts[0]}")
        assert shown["attributes"]["mood"] == "red\x1b[31m" and (shown["state"], shown["gateway"]) == ("connected", user["gateway"])
        assert shown["firstSeen"] <= shown["since"] <= int(time.time()) and set(user) < set(shown)
        # The address is shown on request only.
        api = ServerAPI(stack, create_key(stack)["key"])
        address = api.get("apps", stack.open_app.id, "users", accounts[0]).body["address"]
        assert address and "address" not in shown
        assert control(stack, "user", "show", app, f"--account={accounts[0]}", "--address")["address"] == address
        assert f"address     {address}\n" in stack.control("user", "show", app, f"--account={accounts[0]}", "--address")
        text = stack.control("user", "show", app, f"--account={accounts[0]}")
        assert "mood = red\\u{1b}[31m" in text and "\x1b" not in text

        # A kick ends the session; the user stays known, the address does not.
        assert control(stack, "user", "kick", app, f"--account={accounts[0]}") == {"disconnected": accounts[0]}
        await eventually(
            lambda: control(stack, "user", "show", app, f"--account={accounts[0]}")["state"] == "offline", "the session is over", 30)
        assert control(stack, "user", "show", app, f"--account={accounts[0]}", "--address")["address"] is None


async def test_bans(stack: Stack, people):
    app = stack.create_app(unique("bans"))
    options = (f"--app={app.id}", f"--account={unique('anna')}")
    account = options[1].removeprefix("--account=")
    async with people(stack) as cast:
        user = cast.exactly(account, app)
        await user.login(stack.gateways[0])
        before = int(time.time())
        made = control(stack, "user", "ban", *options, "--seconds=3600", "--reason=spam\x1b[31m")
        assert set(made) == {"account", "createdAt", "reason", "until"} and made["account"] == account
        assert before + 3600 <= made["until"] <= int(time.time()) + 3600
        await eventually(user.closed.is_set, "the session is over")
        for gateway in stack.gateways:
            with pytest.raises(LoginRefused) as refusal:
                await user.login(gateway)
            assert refusal.value.error == "banned"
        assert control(stack, "user", "bans", options[0]) == {"bans": [made], "next": None}
        assert "spam\\u{1b}[31m" in stack.control("user", "bans", options[0])
        for name in ("a", "b"):
            control(stack, "user", "ban", options[0], f"--account={name}", f"--until={before + 60}")
        page = control(stack, "user", "bans", options[0], "--limit=1")
        assert (page["bans"][0]["account"], page["next"]) == ("a", "a")
        assert control(stack, "user", "bans", options[0], "--prefix=b")["bans"][0]["until"] == before + 60
        assert control(stack, "user", "unban", *options) == {"unbanned": account}
        await user.login(stack.gateways[1])
        assert control(stack, "user", "unban", *options) == {"unbanned": account}
        assert user.closed.is_set() is False


@pytest.mark.parametrize(("options", "message"), [
    ((), "give either --seconds or --until"), (("--seconds=1", "--until=9999999999"), "give either"),
    (("--seconds=0",), "1...315360000"), (("--seconds=315360001",), "1...315360000"), (("--until=5",), "in the future"),
    (("--until=-9223372036854775808",), "in the future"), (("--until=9223372036854775807",), "by at most 315360000"),
    (("--seconds=1", "--reason=" + "x" * 513), "up to 512 bytes")])
def test_bans_out_of_range(stack: Stack, options: tuple[str, ...], message: str):
    code, said = refused(stack, "user", "ban", f"--app={stack.open_app.id}", "--account=x", *options)
    assert code == 64 and message in said


def test_bans_in_no_app(stack: Stack):
    for command in (("ban", "--account=x", "--seconds=1"), ("bans",)):
        code, said = refused(stack, "user", *command, "--app=none")
        assert (code, said) == (1, "heliographctl: there is no app none\n")


async def test_channels(stack: Stack, people):
    app = f"--app={stack.open_app.id}"
    room = unique("room")
    async with people(stack) as cast:
        members = await cast.members(room, "ann", "bob", "cid")
        await members[0].call("channel_set_attr", channel=room, name="topic", value="ducks")

        def shown(*more: str) -> dict:
            return control(stack, "channel", "show", app, f"--channel={room}", *more)

        def is_written() -> bool:
            found = control(stack, "channel", "list", app, f"--prefix={room}")["channels"]
            return [(each["channel"], each["members"], each["attributes"]) for each in found] == [(room, 3, 1)]

        await eventually(is_written, "the copies are written", 30)
        names = sorted(member.account for member in members)
        assert [member["account"] for member in shown()["members"]] == names
        assert shown()["total"] == 3 and shown()["attributes"] == {"topic": "ducks"}
        page = shown("--limit=2")
        assert page["next"] == names[1]
        assert [member["account"] for member in shown(f"--after={page['next']}")["members"]] == names[2:]
        assert control(stack, "channel", "list", app, f"--prefix={room}", "--members=4")["channels"] == []
        assert f"{room}  3 members  1 attributes" in stack.control("channel", "list", app, f"--prefix={room}")


async def test_calls(stack: Stack, people):
    app = f"--app={stack.open_app.id}"
    room = unique("call")
    async with people(stack) as cast:
        ann, bob = await cast.login("ann", "bob")
        for number in range(3):
            await ann.act("invite", f"{room}-{number}", bob.account)

        def listed(*more: str) -> dict:
            return control(stack, "call", "list", app, f"--party={bob.account}", *more)

        await eventually(lambda: len(listed()["calls"]) == 3, "the calls are written", 30)
        calls = listed()["calls"]
        assert [call["channel"] for call in calls] == [f"{room}-{number}" for number in (2, 1, 0)]
        assert {(call["caller"], call["callee"], call["direction"]) for call in calls} == {(ann.account, bob.account, "internal")}
        page = listed("--limit=1")
        assert [call["channel"] for call in listed("--limit=1", f"--after={page['next']}")["calls"]] == [f"{room}-1"]
        assert listed("--direction=inbound")["calls"] == [] and listed("--state=talking")["calls"] == []
        assert listed(f"--before={calls[-1]['startedAt']}")["calls"] == [] and listed(f"--before={int(time.time()) + 60}")["calls"] == calls
        one, = control(stack, "call", "show", app, calls[0]["id"])["calls"]
        assert one["channel"] == calls[0]["channel"]
        for verb in ("invite_ack", "invite_accept"):
            await bob.act(verb, f"{room}-0", ann.account)
        await eventually(lambda: len(listed("--state=talking")["calls"]) == 1, "the answer is written", 30)


async def test_send(stack: Stack, people):
    app = f"--app={stack.open_app.id}"
    async with people(stack) as cast:
        ann, = await cast.login("ann")
        sent = control(stack, "send", app, f"--user={ann.account}", "--from=operator", "hello ♥\n")
        assert sent["version"] > 0
        await eventually(lambda: ann.texts("operator") == ["hello ♥\n"], "the message is there")
        # It waits for who is offline.
        name = unique("later")
        control(stack, "send", app, f"--user={name}", "--from=operator", "--ttl=600", "waiting")
        later = cast.exactly(name)
        await later.login(stack.gateways[0])
        await eventually(lambda: later.texts() == ["waiting"], "the message waited")
        # A channel.
        room = unique("room")
        assert control(stack, "send", app, f"--channel={room}", "--from=operator", "x") == {"id": 0}
        member, = await cast.members(room, "bob")
        assert control(stack, "send", app, f"--channel={room}", "--from=operator", "to all")["id"] > 0
        await eventually(lambda: "to all" in str(member.frames), "the channel's message is there")


@pytest.mark.parametrize("arguments, words", [
    (["user", "list", "--limit=0"], "--limit must be 1...1000"),
    (["user", "list", "--limit=1001"], "--limit must be 1...1000"),
    (["user", "list", "--after=" + "x" * 1025], "--after may have up to 1024 bytes"),
    (["user", "list", "--prefix=" + "x" * 129], "--prefix may have up to 128 bytes"),
    (["user", "list", "--gateway=" + "x" * 201], "--gateway may have up to 200 bytes"),
    (["user", "show", "--account=" + "x" * 129], "--account"),
    (["user", "show", "--account=a b"], "--account"),
    (["channel", "list", "--members=-1"], "--members must be 0...1000000000"),
    (["channel", "show", "--channel=" + "x" * 129], "--channel"),
    (["call", "list", "--limit=1001"], "--limit must be 1...1000"),
    (["call", "list", "--party=" + "x" * 129], "--party may have up to 128 bytes"),
    (["call", "list", "--before=10000000000"], "--before must be 0...9999999999"),
    (["call", "list", "--prefix=a"], "--prefix is for names"),
    (["call", "list", "--state=lost"], "--state"),
    (["call", "show", "x" * 1001], "the id must have 1...1000 bytes"),
    (["send", "--from=a", "--user=b", "--channel=c", "x"], "give either --user or --channel"),
    (["send", "--from=a", "x"], "give either --user or --channel"),
    (["send", "--from=a", "--channel=c", "--ttl=1", "x"], "--ttl is for --user"),
    (["send", "--from=a", "--user=b", "--ttl=2592001", "x"], "--ttl must be 0...2592000"),
    (["send", "--from=a", "--user=b", "x" * 8193], "the message may have up to 8192 bytes"),
    (["send", "--from=a", "--channel=_agora_user_online", "x"], "only the system"),
], ids=lambda value: re.sub(r"x{9,}", "...", " ".join(value)) if isinstance(value, list) else "")
def test_bounds(stack: Stack, arguments: list[str], words: str):
    code, message = refused(stack, *arguments, f"--app={stack.open_app.id}")
    assert code == 64 and words in message


def test_what_is_not_there(stack: Stack):
    app = f"--app={stack.open_app.id}"
    for arguments, words in [
        (["user", "list", "--app=nowhere"], "there is no app nowhere"),
        (["channel", "list", "--app=nowhere"], "there is no app nowhere"),
        (["call", "list", "--app=nowhere"], "there is no app nowhere"),
        (["send", "--app=nowhere", "--from=a", "--user=b", "x"], "there is no app nowhere"),
        (["user", "show", app, "--account=nobody"], "nobody has never logged in"),
        (["channel", "show", app, "--channel=nothing"], "has neither members nor attributes"),
        (["call", "show", app, "none"], "there is no call with that id"),
    ]:
        code, message = refused(stack, *arguments)
        assert code == 1 and words in message and message.startswith("heliographctl: ") and message.count("\n") == 1
