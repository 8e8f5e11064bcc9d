"""How engines come into media channels: hello, join, leave, their events; keys, and all refusals."""

import time
import uuid

import pytest
from apps import App
from dynamic_key import VERSIONS, Grant, dynamic_key
from engine import join_arguments
from media_cast import cast_of
from media_socket import MediaRefused
from secrecy import SPOKEN
from stack_control import unique
from waiting import eventually

# Published and computed keys of one app, for the versions 003, 004 and 005; the app of 005 was written in mixed case.
VECTOR_APP = App("970ca35de60c44645bbae8a215061b33", "5cfd2fd1755d40ecb72977518be15d3b", True)
VECTOR_CHANNEL, VECTOR_UID = "7d72365eb983485397e3e3f9d460bdda", 2_882_341_273
VECTORS = {
    "003": "0037666966591a93ee5a3f712e22633f31f0cbc8f13970ca35de60c44645bbae8a215061b3314464554720383bbf528823412731446455471",
    "004": "004d0ec5ee3179c964fe7c0485c045541de6bff332b970ca35de60c44645bbae8a215061b3314464554720383bbf51446455471",
    "005": "005AQAoAEJERTJDRDdFNkZDNkU0ODYxNkYxQTYwOUVFNTM1M0U5ODNCQjFDNDQQAJcMo13mDERkW7roohUGGzOwKDdW9buDA68oN1YAAA==",
}
UID = 77
UNKNOWN = ("unknown_participant", 3)
# Of a socket, in ten seconds.
JOINS = 5


async def refused(cast, reason: str, code: int, app: App | None = None, channel: str | None = None, **arguments: object) -> None:
    """A join with these arguments is answered by that error, and the socket goes on."""
    socket = await cast.socket(app)
    with pytest.raises(MediaRefused) as caught:
        await socket.call("media.join", **join_arguments(channel or unique("joins"), **arguments))
    assert (caught.value.reason, caught.value.code) == (reason, code)
    assert not socket.closed.is_set()


# Hello


@pytest.mark.parametrize("app", ["no such app", uuid.uuid4().hex])
async def test_an_unknown_app_is_refused_and_closed(media, app: str):
    async with media as cast:
        with pytest.raises(MediaRefused) as caught:
            await cast.socket(App(app))
        assert (caught.value.reason, caught.value.code) == ("unknown_app", 101)
        await eventually(cast.opened[-1].closed.is_set, "the socket is closed")


# Joins


async def test_an_answer_has_the_promised_shape(media):
    async with media as cast:
        engine = await cast.engine(unique("joins"), uid=UID)
        answer = engine.answer
        assert set(answer) == {
            "result", "uid", "pid", "secret", "node", "epoch", "n", "expiry", "users", "candidates", "ufrag", "pwd", "pub",
            "suite", "ssrcs", "slots", "pts"}
        assert answer["uid"] == UID and answer["expiry"] == 0 and answer["epoch"] > 0
        assert len(answer["pid"]) == 32 and int(answer["pid"], 16) >= 0
        node, = cast.stack.endpoints["media"]
        assert answer["candidates"] == [["udp", node["host"], node["port"]]]
        assert len(answer["ufrag"]) == 8 and len(answer["pwd"]) >= 22
        assert len(set(answer["slots"]["audio"])) == 6 and answer["ssrcs"]["audio"] not in answer["slots"]["audio"]
        assert answer["pts"] == {"opus": 111}
        # The address that the node has answered is the engine's own.
        assert engine.path.checks.address == engine.path.own_address


async def test_a_free_uid_is_chosen(media):
    async with media as cast:
        channel = unique("joins")
        uids = {(await cast.engine(channel)).uid for _ in range(3)}
        assert len(uids) == 3 and all(0 < uid < 1 << 32 for uid in uids)


async def test_others_are_told_of_joins_and_leaves(media):
    async with media as cast:
        channel = unique("joins")
        ada = await cast.engine(channel)
        bob = await cast.engine(channel, 440)
        assert [user[:2] for user in ada.answer["users"]] == [[ada.uid, 0]]
        assert [user[:2] for user in bob.answer["users"]] == [[ada.uid, 0], [bob.uid, 0]]
        assert bob.answer["users"][0][2] >= bob.answer["users"][1][2] >= 0
        joined = await ada.socket.event("joined", uid=bob.uid)
        assert joined.fields == {"t": "joined", "channel": channel, "pid": ada.pid, "n": ada.n + 1, "uid": bob.uid, "flags": 0}
        assert bob.n == joined.n
        cyd = await cast.engine(channel, muted=1)
        joined = await ada.socket.event("joined", uid=cyd.uid)
        assert (joined.n, joined["flags"]) == (ada.n + 2, 1)
        await ada.hears(bob, 0.2)
        ended = await bob.leave()
        # In milliseconds. Each of 10 packets has more than 50 bytes.
        assert 200 <= ended["duration"] < 10_000 and ended["bytes"] > 500
        for one in (ada, cyd):
            left = await one.socket.event("left", uid=bob.uid)
            assert left["reason"] == "quit" and left.n == ada.n + 3 and left["pid"] == one.pid
        assert [event.n for event in ada.changes()] == [ada.n + 1, ada.n + 2, ada.n + 3]
        assert [event.n for event in cyd.changes()] == [ada.n + 3]
        # Nobody is told of what they do themselves, and who has left is told nothing.
        assert [event["uid"] for event in bob.changes()] == [cyd.uid]


async def test_a_participant_leaves_once(media):
    async with media as cast:
        engine = await cast.engine(unique("joins"))
        await engine.leave()
        with pytest.raises(MediaRefused) as caught:
            await engine.leave()
        assert caught.value.reason in ("unknown_participant", "not_in_channel") and caught.value.code == 3


async def test_only_who_has_joined_may_leave(media):
    async with media as cast:
        engine = await cast.engine(unique("joins"))
        stranger = await cast.socket()
        with pytest.raises(MediaRefused) as caught:
            await stranger.call("media.leave", channel=engine.channel, pid=engine.pid)
        assert caught.value.reason in ("unknown_participant", "not_in_channel") and caught.value.code == 3
        await engine.leave()


async def test_a_uid_is_in_a_channel_once(media):
    """With another call it is another participant, which takes the place; the others hear of both."""
    async with media as cast:
        channel = unique("joins")
        ada = await cast.engine(channel)
        bob = await cast.engine(channel, uid=UID)
        again = await cast.engine(channel, uid=UID)
        gone = await bob.socket.event("gone")
        assert gone["reason"] == "replaced" and gone["pid"] == bob.pid and gone["channel"] == channel
        left = await ada.socket.event("left", uid=UID)
        assert left["reason"] == "replaced"
        assert [(event.type, event["uid"], event.n) for event in ada.changes()] == [
            ("joined", UID, ada.n + 1), ("left", UID, ada.n + 2), ("joined", UID, ada.n + 3)]
        assert again.pid != bob.pid and set(again.members()) == {ada.uid}


async def test_the_same_call_goes_on(media):
    """The same uid with the same call on another socket: the others are told nothing, the older participant that it is over."""
    async with media as cast:
        channel, call = unique("calls"), uuid.uuid4().hex
        ada = await cast.engine(channel)
        bob = await cast.engine(channel, 440, uid=UID, call=call)
        await ada.hears(bob, 0.2)
        again = await cast.engine(channel, 440, uid=UID, call=call)
        gone = await bob.event("gone")
        assert gone["reason"] == "replaced" and gone["channel"] == channel
        bob.path.end()
        await ada.hears(again, 0.5)
        with pytest.raises(MediaRefused) as caught:
            await bob.leave()
        assert (caught.value.reason, caught.value.code) == UNKNOWN
        assert [(event.type, event["uid"]) for event in ada.changes()] == [("joined", UID)]
        await again.leave()
        left = await ada.event("left", uid=UID)
        assert (left["reason"], left.n) == ("quit", ada.n + 2)


# Refusals


@pytest.mark.parametrize("channel", ["", "x" * 65, "x" * 101, "a/b", "a\\b", "Zürich", "a\tb"])
async def test_names_of_channels(media, channel: str):
    async with media as cast:
        socket = await cast.socket()
        with pytest.raises(MediaRefused) as caught:
            await socket.call("media.join", **join_arguments(channel))
        assert (caught.value.reason, caught.value.code) == ("invalid_channel", 102)


async def test_the_longest_name_with_all_kinds_of_characters(media):
    name = f"{uuid.uuid4().hex} !#$%&()+-:;<=.>?@[]^_{{}}|~,".ljust(64, "x")
    assert len(name) == 64
    async with media as cast:
        assert (await cast.engine(name)).uid


@pytest.mark.parametrize("uid", [-1, 1 << 32, "7", 1.5])
async def test_uids(media, uid: object):
    async with media as cast:
        await refused(cast, "invalid_uid", 2, uid=uid)


@pytest.mark.parametrize("arguments", [
    {"kind": None}, {"kind": "radio"}, {"pub": None}, {"pub": "AAAA"}, {"pub": "not base64"}, {"call": None}, {"call": "12"},
    {"muted": 4}, {"enabled": "yes"}, {"info": "x" * 4097},
], ids=lambda arguments: str(arguments)[:40])
async def test_arguments(media, arguments: dict):
    async with media as cast:
        await refused(cast, "invalid_args", 2, **arguments)


@pytest.mark.parametrize("codecs", [["speex"], []], ids=str)
async def test_media_that_nobody_forwards(media, codecs: list[str]):
    async with media as cast:
        await refused(cast, "unsupported_media", 4, codecs=codecs)


# How many, how often


async def test_a_socket_joins_five_times_in_ten_seconds(media):
    async with media as cast:
        channel, socket = unique("calls"), await cast.socket()
        joined = [await cast.engine(channel, socket=socket) for _ in range(JOINS)]
        await socket.refused("rate_limited", 12, "media.join", **join_arguments(channel))
        assert len({one.pid for one in joined}) == JOINS
        # Another socket may, and this one goes on.
        await cast.engine(channel)
        await joined[0].leave()


async def test_a_full_channel(make_stack, monkeypatch):
    monkeypatch.setenv("HELIOGRAPH_MEDIA_MEMBERS", "3")
    async with cast_of(make_stack(gateways=1, media=1)) as cast:
        channel = unique("calls")
        members = [await cast.engine(channel, uid=uid) for uid in (1, 2, 3)]
        socket = await cast.socket()
        await socket.refused("channel_full", 17, "media.join", **join_arguments(channel, 4))
        await socket.refused("channel_full", 17, "media.join", **join_arguments(channel))
        # One who comes again takes no further place, and another channel has places.
        await cast.engine(channel, uid=3)
        await members[2].event("gone", reason="replaced")
        await cast.engine(unique("calls"))
        await members[0].leave()
        await cast.engine(channel, uid=4, socket=socket)


# Keys


@pytest.mark.parametrize("version", VERSIONS)
def test_the_vectors_of_keys(version: str):
    grant = Grant(made=1_446_455_472, random=58_964_981, expiry=1_446_455_471)
    assert dynamic_key(version, VECTOR_APP, VECTOR_CHANNEL, VECTOR_UID, grant) == VECTORS[version]


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_right_key_lets_in(media, version: str):
    async with media as cast:
        app, channel = cast.stack.token_app, unique("keys")
        expiry = int(time.time()) + 600
        engine = await cast.engine(channel, uid=UID, app=app, key=dynamic_key(version, app, channel, UID, Grant(expiry=expiry)))
        assert (engine.uid, engine.answer["expiry"]) == (UID, expiry)


@pytest.mark.parametrize("version", VERSIONS)
async def test_wrong_keys(media, version: str):
    async with media as cast:
        app, channel = cast.stack.token_app, unique("keys")
        now = int(time.time())
        other = App(app.id, uuid.uuid4().hex, True)
        for key, reason, code in (
            (dynamic_key(version, app, channel, UID + 1), "wrong_key", 110),
            (dynamic_key(version, app, f"{channel}x", UID), "wrong_key", 110),
            (dynamic_key(version, other, channel, UID), "wrong_key", 110),
            (dynamic_key(version, app, channel, UID, Grant(made=now - 400)), "key_expired", 109),
            (dynamic_key(version, app, channel, UID, Grant(expiry=now - 1)), "key_expired", 109),
            (dynamic_key(version, app, channel, UID)[:-9], "malformed_key", 110),
        ):
            await refused(cast, reason, code, app, channel, uid=UID, key=key)


@pytest.mark.parametrize(("version", "service"), [("004", "ARS"), ("004", "APSS"), ("005", "ARS"), ("005", "APSS")])
async def test_keys_of_other_services(media, version: str, service: str):
    async with media as cast:
        app, channel = cast.stack.token_app, unique("keys")
        key = dynamic_key(version, app, channel, UID, Grant(service))
        await refused(cast, "wrong_key", 110, app, channel, uid=UID, key=key)


async def test_a_key_is_required_where_tokens_are(media):
    async with media as cast:
        app = cast.stack.token_app
        for key in ("", app.id):
            await refused(cast, "key_required", 110, app, uid=UID, key=key)
        await refused(cast, "malformed_key", 110, app, uid=UID, key="007 is no version of keys")


async def test_a_key_that_is_not_required_is_checked_too(media):
    async with media as cast:
        await refused(cast, "malformed_key", 110, uid=UID, key="007 is no version of keys")
        assert (await cast.engine(unique("keys"), key=cast.stack.open_app.id)).answer["expiry"] == 0


# Sessions


async def test_a_session_joins_on_its_own_socket(stack, media, people):
    """Whoever is logged in needs no hello, and no further socket."""
    async with media as cast, people(stack) as users:
        channel = unique("sessions")
        ada = await cast.engine(channel)
        user, = await users.login("user")
        answer = await user.call("media.join", **join_arguments(channel))
        SPOKEN.media(answer)
        assert (await ada.event("joined"))["uid"] == answer["uid"]
        ended = await user.call("media.leave", channel=channel, pid=answer["pid"])
        assert ended["result"] == "ok" and (await ada.event("left"))["reason"] == "quit"


@pytest.mark.parametrize("line", ["wrong", "", 7], ids=str)
async def test_calls_need_the_line_of_their_socket(media, people, stack, line: object):
    async with media as cast, people(stack) as users:
        socket, other = await cast.socket(), await cast.socket()
        user, = await users.login("user")
        for wrong in (line, other.line):
            for one in (socket, user):
                reply = await one.attempt("media.join", line=wrong, **join_arguments(unique("lines")))
                assert (reply.error, reply.data["reason"]) == ("bad_line", "bad_line")
        # Both go on.
        for one in (socket, user):
            SPOKEN.media(await one.call("media.join", **join_arguments(unique("lines"))))
