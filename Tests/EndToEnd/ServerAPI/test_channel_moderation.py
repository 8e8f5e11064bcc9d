"""Moderation of channels: members are removed, kept out and muted by their app's server, for a time."""

import json
import time

import pytest
from answers import Reply
from server_api import ServerAPI, create_key
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually

YEAR_3000 = 32_503_680_000
# Longer than a gateway or a service needs for a refusal, also on a busy machine.
SHORT_SECONDS = 3


@pytest.fixture(scope="module")
def api(stack: Stack) -> ServerAPI:
    return ServerAPI(stack, create_key(stack)["key"])


def channel_path(stack: Stack, channel: str, *rest: str) -> tuple[str, ...]:
    return ("apps", stack.open_app.id, "channels", channel, *rest)


def prefix_of(stack: Stack, channel: str) -> str:
    """What the channel's keys begin with; for names that need no escape."""
    return f"{{a:{stack.open_app.id}:c:{channel}}}"


def leaves_of(client: Client, account: str) -> list[dict]:
    return [event.content for event in client.of_type("channel_user_leave") if event.content["account"] == account]


def refusal(reply: Reply) -> tuple[str, object]:
    return reply.error, reply.data.get("code")


async def test_a_member_is_removed_and_kept_out_until_the_ban_is_lifted(stack: Stack, people, api: ServerAPI):
    channel = unique("rööm/ 1")
    async with people(stack) as cast:
        ada, bob = await cast.members(channel, "ada", "bob")
        before = int(time.time())
        path = channel_path(stack, channel, "bans", bob.account)
        made = api.put(*path, body={"seconds": 3600, "reason": "spam ☹"})
        assert made.status == 200, made.body
        assert (made.body["account"], made.body["reason"], made.body["removed"]) == (bob.account, "spam ☹", True)
        assert before + 3600 <= made.body["until"] <= int(time.time()) + 3600
        assert before - 2 <= made.body["createdAt"] <= int(time.time()) + 2
        await eventually(lambda: leaves_of(bob, bob.account), "the member is told")
        await eventually(lambda: leaves_of(ada, bob.account), "the others are told")
        assert leaves_of(bob, bob.account)[0]["channel"] == channel
        assert api.get(*channel_path(stack, channel, "members", bob.account)).body["member"] is False
        # What happens in the channel is not shown any more, and not even a forced message is accepted.
        await ada.say(channel, "he is gone")
        assert refusal(await bob.attempt("channel_join", name=channel)) == ("banned", 300)
        assert refusal(await bob.attempt("channel_sendmsg", name=channel, msg="x", force=True)) == ("banned", 400)
        assert not bob.of_type("channel_msg")
        # Another ban says that the user was not there.
        assert api.put(*path, body={"seconds": 60}).body["removed"] is False
        assert api.delete(*path).body == {"account": bob.account}
        await bob.join(channel)
        await ada.say(channel, "he is back")
        await eventually(lambda: [event.content["msg"] for event in bob.of_type("channel_msg")] == ["he is back"], "a message")
        assert len(leaves_of(bob, bob.account)) == 1
    assert api.delete(*path).status == 200


async def test_a_refused_join_leaves_the_user_where_it_is(stack: Stack, people, api: ServerAPI):
    room, other = unique("room"), unique("other")
    async with people(stack) as cast:
        ada, bob = await cast.members(room, "ada", "bob")
        assert api.put(*channel_path(stack, other, "bans", bob.account), body={"seconds": 60}).body["removed"] is False
        assert refusal(await bob.attempt("channel_join", name=other)) == ("banned", 300)
        await bob.say(room, "still here")
        await eventually(lambda: ada.of_type("channel_msg"), "the message")
        assert not leaves_of(ada, bob.account)
        # Its next join leaves the room as ever.
        await bob.join(unique("third"))
        await eventually(lambda: leaves_of(ada, bob.account), "the leave")


async def test_a_ban_ends_by_itself_and_a_removal_alone_keeps_nobody_out(stack: Stack, people, api: ServerAPI):
    channel = unique("room")
    async with people(stack) as cast:
        bob, = await cast.members(channel, "bob")
        path = channel_path(stack, channel, "bans", bob.account)
        made = api.put(*path, body={"seconds": 0})
        assert (made.status, made.body["until"], made.body["removed"]) == (200, 0, True), made.body
        await eventually(lambda: leaves_of(bob, bob.account), "the member is told")
        unknown = api.put(*path, body={"seconds": 0})
        assert (unknown.status, unknown.code) == (404, "not_found"), unknown.body
        await bob.join(channel)
        assert api.put(*path, body={"seconds": SHORT_SECONDS}).body["removed"] is True
        assert refusal(await bob.attempt("channel_join", name=channel)) == ("banned", 300)
        patience = time.monotonic() + 15
        while (await bob.attempt("channel_join", name=channel)).error:
            assert time.monotonic() < patience
        assert api.get(*channel_path(stack, channel, "bans")).body == {"bans": [], "next": None}


async def test_a_muted_members_messages_are_refused(stack: Stack, people, api: ServerAPI):
    channel = unique("room")
    async with people(stack) as cast:
        ada, bob = await cast.members(channel, "ada", "bob")
        path = channel_path(stack, channel, "mutes", bob.account)
        made = api.put(*path, body={"seconds": 60, "reason": "shouts"})
        assert (made.status, "removed" in made.body) == (200, False), made.body
        for force in (False, True):
            assert refusal(await bob.attempt("channel_sendmsg", name=channel, msg="x", force=force)) == ("muted", 400)
        await ada.say(channel, "hello")
        await bob.call("channel_set_attr", channel=channel, name="topic", value="y")
        answer = api.post(*channel_path(stack, channel, "messages"), body={"from": bob.account, "message": "by the server"})
        assert answer.status == 200, answer.body
        # Who was removed and joins again is muted still.
        await bob.leave(channel)
        await bob.join(channel)
        assert refusal(await bob.attempt("channel_sendmsg", name=channel, msg="x")) == ("muted", 400)
        assert api.delete(*path).body == {"account": bob.account}
        await bob.say(channel, "free")
        said = ["hello", "by the server", "free"]
        await eventually(lambda: [event.content["msg"] for event in ada.of_type("channel_msg")] == said, "all that was sent")
        assert api.put(*path, body={"seconds": SHORT_SECONDS}).status == 200
        patience = time.monotonic() + 15
        while (await bob.attempt("channel_sendmsg", name=channel, msg="late")).error:
            assert time.monotonic() < patience


async def test_restrictions_outlive_the_channel(stack: Stack, people, api: ServerAPI):
    channel = unique("room")
    async with people(stack) as cast:
        ada, bob = await cast.login("ada", "bob")
        assert api.put(*channel_path(stack, channel, "bans", bob.account), body={"seconds": 60}).status == 200
        assert api.put(*channel_path(stack, channel, "mutes", ada.account), body={"seconds": 60}).status == 200
        # As when the channel has ended.
        stack.redis("DEL", prefix_of(stack, channel) + ":state")
        await ada.join(channel)
        assert refusal(await bob.attempt("channel_join", name=channel)) == ("banned", 300)
        assert refusal(await ada.attempt("channel_sendmsg", name=channel, msg="x")) == ("muted", 400)


async def test_a_member_without_a_connection_learns_of_it_when_it_resumes(stack: Stack, people, api: ServerAPI):
    channel = unique("room")
    async with people(stack) as cast:
        ada, bob = await cast.members(channel, "ada", "bob")
        bob.abort()
        await bob.closed.wait()
        assert api.put(*channel_path(stack, channel, "bans", bob.account), body={"seconds": 60}).body["removed"] is True
        await eventually(lambda: leaves_of(ada, bob.account), "the others are told")
        answer = await bob.resume(stack.gateways[1])
        assert "channel" not in answer or answer["channel"] is None


async def test_restrictions_are_listed(stack: Stack, api: ServerAPI):
    channel = unique("room")
    for kind in ("bans", "mutes"):
        for name in ("c", "a", "b"):
            assert api.put(*channel_path(stack, channel, kind, name), body={"seconds": 60, "reason": f"{kind} {name}"}).status == 200
    for kind in ("bans", "mutes"):
        path = channel_path(stack, channel, kind)
        first = api.get(*path, query="?limit=2").body
        assert [(one["account"], one["reason"]) for one in first[kind]] == [("a", f"{kind} a"), ("b", f"{kind} b")]
        second = api.get(*path, query=f"?limit=2&after={first['next']}").body
        assert [one["account"] for one in second[kind]] == ["c"] and second["next"] is None
    assert api.delete(*channel_path(stack, channel, "bans", "b")).status == 200
    assert [one["account"] for one in api.get(*channel_path(stack, channel, "bans")).body["bans"]] == ["a", "c"]
    assert len(api.get(*channel_path(stack, channel, "mutes")).body["mutes"]) == 3
    # When all are gone, so is the mark that makes messages look for them.
    for kind in ("bans", "mutes"):
        for name in ("a", "b", "c"):
            api.delete(*channel_path(stack, channel, kind, name))
    prefix = prefix_of(stack, channel)
    assert stack.redis("EXISTS", prefix + ":bars").strip() == "0"
    assert stack.redis("HEXISTS", prefix + ":state", "barred").strip() == "0"


def test_a_channel_has_so_many_restrictions_at_most(stack: Stack, api: ServerAPI):
    channel = unique("room")
    path = channel_path(stack, channel, "bans")
    assert api.put(*path, "first", body={"seconds": 60}).status == 200
    bars = prefix_of(stack, channel) + ":bars"
    stack.redis("HSET", bars, *[word for number in range(999) for word in (f"mute u{number}", f"{YEAR_3000} 1 x")])
    refused = api.put(*path, "more", body={"seconds": 60})
    assert (refused.status, refused.code) == (409, "too_many_bans"), refused.body
    assert "1000" in refused.body["bound"]
    # One that is there is replaced, and those that are over make room.
    assert api.put(*path, "first", body={"seconds": 90}).status == 200
    stack.redis("HSET", bars, "mute u7", "5 1 x")
    assert api.put(*path, "more", body={"seconds": 60}).status == 200


@pytest.mark.parametrize("kind", ["bans", "mutes"])
@pytest.mark.parametrize(("body", "field"), [
    ({}, "seconds"), ({"seconds": -1}, "seconds"), ({"seconds": 2_592_001}, "seconds"), ({"seconds": 1, "reason": "x" * 513}, "reason"),
    ({"seconds": 1, "reason": "\0"}, "reason"), ({"seconds": 1, "until": 5}, "until")])
def test_restrictions_out_of_range(stack: Stack, api: ServerAPI, kind: str, body: dict, field: str):
    answer = api.put(*channel_path(stack, "c", kind, "x"), body=body)
    assert (answer.status, answer.code, answer.body["field"]) == (400, "invalid_argument", field)
    assert answer.body["bound"]


def test_a_mute_needs_a_time_and_special_channels_have_no_restrictions(stack: Stack, api: ServerAPI):
    assert api.put(*channel_path(stack, "c", "mutes", "x"), body={"seconds": 0}).body["field"] == "seconds"
    assert api.put(*channel_path(stack, "_agora_user_online", "bans", "x"), body={"seconds": 1}).body["field"] == "channel"


@pytest.mark.parametrize("kind", ["bans", "mutes"])
def test_who_may_moderate(stack: Stack, kind: str):
    reader = ServerAPI(stack, create_key(stack, app=stack.open_app.id, scopes=("read", "send"))["key"])
    path = channel_path(stack, unique("room"), kind)
    assert reader.put(*path, "x", body={"seconds": 1}).status == 403
    assert reader.delete(*path, "x").status == 403
    assert reader.get(*path).body == {kind: [], "next": None}
    other = ServerAPI(stack, create_key(stack, app=stack.token_app.id)["key"])
    assert other.put(*path, "x", body={"seconds": 1}).status == 403
    assert other.get(*path).status == 403


def test_the_audit_trail_has_them(stack: Stack, api: ServerAPI):
    channel, name = unique("room"), unique("eve")
    for kind in ("bans", "mutes"):
        assert api.put(*channel_path(stack, channel, kind, name), body={"seconds": 60, "reason": "why"}).status == 200
        assert api.delete(*channel_path(stack, channel, kind, name)).status == 200
    rows = stack.sql(
        f"SELECT act, details ->> 'channel', details ->> 'reason', by_kind FROM audit_trail WHERE subject = '{name}' ORDER BY at, id")
    assert [row[0] for row in rows] == ["channel.remove", "channel.unban", "channel.mute", "channel.unmute"]
    assert {row[1] for row in rows} == {channel} and {row[3] for row in rows} == {"key"}
    assert rows[0][2] == "why"


async def test_the_command_line_moderates_too(stack: Stack, people):
    channel = unique("room")
    async with people(stack) as cast:
        ada, bob = await cast.members(channel, "ada", "bob")
        place = ("--app", stack.open_app.id, "--channel", channel)
        stack.control("channel", "mute", *place, "--account", bob.account, "--seconds", "60")
        assert refusal(await bob.attempt("channel_sendmsg", name=channel, msg="x")) == ("muted", 400)
        assert bob.account in stack.control("channel", "mutes", *place)
        stack.control("channel", "unmute", *place, "--account", bob.account)
        await bob.say(channel, "free")
        stack.control("channel", "remove", *place, "--account", bob.account, "--seconds", "60", "--reason", "spam")
        await eventually(lambda: leaves_of(bob, bob.account), "the member is told")
        await eventually(lambda: leaves_of(ada, bob.account), "the others are told")
        assert refusal(await bob.attempt("channel_join", name=channel)) == ("banned", 300)
        listed = json.loads(stack.control("channel", "bans", *place, "--json"))
        assert [(one["account"], one["reason"]) for one in listed["bans"]] == [(bob.account, "spam")]
        stack.control("channel", "unban", *place, "--account", bob.account)
        await bob.join(channel)
    acts = stack.sql(f"SELECT act FROM audit_trail WHERE subject = '{bob.account}' AND by_kind = 'heliographctl' ORDER BY at, id")
    assert acts == [["channel.mute"], ["channel.unmute"], ["channel.remove"], ["channel.unban"]]
