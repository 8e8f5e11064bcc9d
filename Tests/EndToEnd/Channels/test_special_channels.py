"""The special channels, in which an app's servers follow logins and joins."""

import json
import time

import pytest
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually

BUILT_INS = (
    "_userNotification", "_channel_ttl", "_auto_update_num", "_auto_update_total_num", "_sendmsg_limit", "_setattr_limit")


@pytest.mark.parametrize("prefix", ["_", "__"])
async def test_the_special_channels(stack: Stack, people, prefix: str):
    online, events = f"{prefix}agora_user_online", f"{prefix}agora_channel_event"
    room = unique("room")
    began = int(time.time())

    def bodies(server: Client, account: str) -> list[dict]:
        return [json.loads(event.content["msg"]) for event in server.of_type("channel_msg") if event.account == account]

    async with people(stack) as cast:
        logins, joins, late = await cast.login("logins", "joins", "late")
        await logins.join(online)
        await joins.join(events)
        await late.join(events)
        alice, = await cast.members(room, "alice")
        await alice.leave(room)
        await alice.join(room)
        await alice.logout()
        await eventually(lambda: len(bodies(logins, alice.account)) == 2, "login and logout are reported")
        await eventually(lambda: len(bodies(joins, alice.account)) == 4, "joins and leaves are reported")
        told = bodies(logins, alice.account)
        about = {"account": alice.account, "uid": alice.uid}
        assert [{**event, "time": 0} for event in told] == [
            {"event": "online", **about, "reason": 0, "time": 0},
            {"event": "offline", **about, "reason": 603, "time": 0}]
        moves = bodies(joins, alice.account)
        about["channel"] = room
        assert [{**event, "time": 0} for event in moves] == [
            {"event": "join", **about, "reason": 0, "time": 0}, {"event": "leave", **about, "reason": 602, "time": 0},
            {"event": "join", **about, "reason": 0, "time": 0}, {"event": "leave", **about, "reason": 603, "time": 0}]
        assert all(began - 1 <= event["time"] <= time.time() + 1 for event in told + moves)
        # Joins of the special channels themselves are not announced.
        mover, = await cast.login("mover")
        await mover.join(unique("first"))
        await eventually(lambda: bodies(joins, mover.account), "the join after the server's own is reported")
        await late.leave(events)
        await mover.join(unique("second"))
        await eventually(lambda: len(bodies(joins, mover.account)) == 3, "the moves after the other server's leave are reported")
        assert not joins.of_type("channel_user_join") and not joins.of_type("channel_user_leave")
        assert not bodies(joins, late.account)


@pytest.mark.parametrize("name", ["_agora_user_online", "__agora_channel_event"])
async def test_special_channels_have_no_built_ins_and_no_end(stack: Stack, people, name: str):
    async with people(stack) as cast:
        alice, = await cast.login("alice")
        for attribute in BUILT_INS:
            refused = await alice.attempt("channel_set_attr", channel=name, name=attribute, value="1")
            assert (refused.data["code"], refused.data["reason"]) == (1004, "special_channel")
            refused = await alice.attempt("channel_del_attr", channel=name, name=attribute)
            assert (refused.data["code"], refused.data["reason"]) == (1004, "special_channel")
        mark = unique("mark")
        await alice.join(name)
        await alice.call("channel_set_attr", channel=name, name=mark, value="kept")
        await alice.leave(name)
        other = name.removeprefix("_") if name.startswith("__") else f"_{name}"
        assert (await alice.join(other))["attrs"][mark] == "kept"
        await alice.call("channel_del_attr", channel=name, name=mark)
