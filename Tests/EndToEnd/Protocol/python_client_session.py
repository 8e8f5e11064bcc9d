"""The main job, done by two sessions of the unmodified `agora-signaling-sdk` 1.0.2 on two gateways.

Run as a program of its own, because twisted's reactor can be run once in a process:

    python_client_session.py APP TOKEN_A TOKEN_B ACCOUNT_A ACCOUNT_B HOST:PORT_A HOST:PORT_B

Prints one line per step that was seen to work, `{"step": NAME, ...what was seen}`, and ends with status 0 when all were.
The SDK's own log goes to standard error.
"""

import json
import sys
import traceback

from agorasigsdk.agora_signal import AgoraSignal
from agorasigsdk.call import Call
from agorasigsdk.channel import Channel
from agorasigsdk.login_session import LoginSession
from twisted.internet import reactor
from twisted.internet.defer import inlineCallbacks
from twisted.internet.task import deferLater

STEP_SECONDS = 15


class Seen:
    """Every callback of one user's SDK objects, in order."""

    def __init__(self):
        self.entries = []
        self.taken = 0
        self.calls = []

    def add(self, name, *values):
        self.entries.append((name, *values))


class Logins(LoginSession.LoginCallback):
    def __init__(self, seen, call_callback):
        self.seen = seen
        self.call_callback = call_callback

    def on_login_success(self, session, uid):
        self.seen.add("login", uid)

    def on_logout(self, session, code):
        self.seen.add("logout", code)

    def on_msg_instant_received(self, session, account, uid, msg):
        self.seen.add("message", account, msg)

    def on_invite_received(self, session, call):
        call.set_callback(self.call_callback)
        self.seen.calls.append(call)
        self.seen.add("invited", call.channel, call.peer, call.extra)


class Sent(LoginSession.MessageCallback):
    def __init__(self, seen):
        self.seen = seen

    def on_msg_send_error(self, session, code):
        self.seen.add("send failed", code)

    def on_msg_send_success(self, session):
        self.seen.add("sent")


class Channels(Channel.ChannelCallback):
    def __init__(self, seen):
        self.seen = seen

    def on_channel_joined(self, session, channel):
        self.seen.add("joined")

    def on_channel_join_failed(self, session, channel, code):
        self.seen.add("join failed", code)

    def on_channel_left(self, session, channel, code):
        self.seen.add("left", code)

    def on_channel_user_list(self, session, channel, users, uids):
        self.seen.add("user list", users, uids)

    def on_channel_user_joined(self, session, channel, account, uid):
        self.seen.add("user joined", account, uid)

    def on_channel_user_left(self, session, channel, account, uid):
        self.seen.add("user left", account, uid)

    def on_channel_attr_updated(self, session, channel, name, value, kind):
        self.seen.add("attribute", name, value, kind)

    def on_msg_channel_received(self, session, channel, account, uid, msg):
        self.seen.add("talk", account, uid, msg)


class Calls(Call.CallCallback):
    def __init__(self, seen):
        self.seen = seen

    def on_invite_received_by_peer(self, session, call):
        self.seen.add("ringing", call.channel, call.peer)

    def on_invite_accepted_by_peer(self, session, call, extra):
        self.seen.add("accepted", call.channel, call.peer, extra)

    def on_invite_refused_by_peer(self, session, call, extra):
        self.seen.add("refused", call.channel, call.peer, extra)

    def on_invite_failed(self, session, call, code):
        self.seen.add("failed", call.channel, call.peer, code)

    def on_invite_end_by_peer(self, session, call, extra):
        self.seen.add("ended by peer", call.channel, call.peer)

    def on_invite_end_by_myself(self, session, call, extra):
        self.seen.add("ended by myself", call.channel, call.peer)


class User:
    """One user of the SDK: its session, its callbacks, what they saw."""

    def __init__(self, app, token, account, address):
        self.app, self.token, self.account, self.address = app, token, account, address
        self.seen = Seen()
        self.channels, self.calls, self.sent = Channels(self.seen), Calls(self.seen), Sent(self.seen)
        self.session = None

    @inlineCallbacks
    def login(self):
        host, port = self.address.split(":")
        self.session = AgoraSignal(self.app).login(
            self.account, self.token, Logins(self.seen, self.calls), is_debugging=True, debug_params=[(host, int(port))])
        entry = yield self.next("login")
        self.uid = entry[1]

    @inlineCallbacks
    def next(self, name):
        """The next callback, which must have this name."""
        waited = 0
        while len(self.seen.entries) == self.seen.taken:
            if waited > STEP_SECONDS:
                raise AssertionError(f"{self.account}: no {name!r} within {STEP_SECONDS} s; seen: {self.seen.entries}")
            yield deferLater(reactor, 0.02, lambda: None)
            waited += 0.02
        entry = self.seen.entries[self.seen.taken]
        self.seen.taken += 1
        assert entry[0] == name, f"{self.account}: expected {name!r}, saw {entry!r}; all: {self.seen.entries}"
        return entry

    def send(self, peer, text):
        self.session.msg_instant_send(peer.account, text, self.sent)

    @inlineCallbacks
    def status_of(self, account):
        answers = []
        self.session.query_user_status(account, lambda error, status: answers.append((error, status)))
        waited = 0
        while not answers:
            assert waited < STEP_SECONDS, "no answer to the status query"
            yield deferLater(reactor, 0.02, lambda: None)
            waited += 0.02
        error, status = answers[0]
        assert error == "", error
        assert type(status) is int, f"status is {status!r}"
        return status


def passed(step, **what):
    print(json.dumps({"step": step, **what}), flush=True)


@inlineCallbacks
def messages(a, b):
    yield a.login()
    passed("login of the first", uid=a.uid)
    assert (yield a.status_of(b.account)) == 0
    passed("status of one who is offline")
    a.send(b, "before you were here")
    yield a.next("sent")
    yield b.login()
    passed("login of the second", uid=b.uid)
    assert (yield b.next("message"))[1:] == (a.account, "before you were here")
    passed("message to a user not yet logged in")
    assert (yield a.status_of(b.account)) == 1
    assert (yield b.status_of(a.account)) == 1
    passed("status of each other")
    for sender, receiver in ((a, b), (b, a)):
        texts = ["hello", "with  spaces and\nlines", "ünïcödé \U0001f600", ""]
        for text in texts:
            sender.send(receiver, text)
        for text in texts:
            yield sender.next("sent")
        for text in texts:
            assert (yield receiver.next("message"))[1:] == (sender.account, text)
    passed("messages in both directions")


@inlineCallbacks
def attribute(users, *expected):
    for user in users:
        assert (yield user.next("attribute"))[1:] == expected


@inlineCallbacks
def channel(a, b, name):
    room_a = a.session.channel_join(name, a.channels)
    yield a.next("joined")
    assert (yield a.next("user list"))[1:] == ([a.account], [a.uid])
    passed("join")
    room_a.channel_set_attr("topic", "tea")
    yield attribute([a], "topic", "tea", "update")
    room_b = b.session.channel_join(name, b.channels)
    yield b.next("joined")
    entry = yield b.next("user list")
    assert sorted(zip(*entry[1:])) == sorted([(a.account, a.uid), (b.account, b.uid)]), entry
    passed("user list")
    yield attribute([b], "topic", "tea", "update")
    passed("attributes at the join")
    assert (yield a.next("user joined"))[1:] == (b.account, b.uid)
    passed("the other's join")
    for speaker, room in ((a, room_a), (b, room_b)):
        room.msg_channel_send(f"{speaker.account} says hello")
        for listener in (a, b):
            assert (yield listener.next("talk"))[1:] == (speaker.account, speaker.uid, f"{speaker.account} says hello")
    passed("talk")
    room_b.channel_set_attr("mood", "good")
    yield attribute([a, b], "mood", "good", "update")
    passed("attribute set")
    room_a.channel_del_attr("mood")
    yield attribute([a, b], "mood", "", "del")
    passed("attribute deleted")
    room_b.channel_clear_attr()
    yield attribute([a, b], "", "", "clear")
    passed("attributes cleared")
    room_b.channel_leave()
    yield b.next("left")
    assert (yield a.next("user left"))[1:] == (b.account, b.uid)
    a.session.send_channel_msg(name, "to myself alone")
    assert (yield a.next("talk"))[3] == "to myself alone"
    passed("leave")
    room_a.channel_leave()
    yield a.next("left")


@inlineCallbacks
def ring(caller, callee, name, extra):
    call = caller.session.channel_invite_user_2(name, callee.account, extra, caller.calls)
    assert (yield callee.next("invited"))[1:] == (name, caller.account, extra)
    assert (yield caller.next("ringing"))[1:] == (name, callee.account)
    return call, callee.seen.calls[-1]


@inlineCallbacks
def calls(a, b, name):
    outgoing, incoming = yield ring(a, b, name, '{"n": 1}')
    passed("invite")
    passed("acknowledge")
    incoming.accept()
    assert (yield a.next("accepted"))[1:] == (name, b.account, '{"n": 1}')
    passed("accept")
    outgoing.end()
    yield a.next("ended by myself")
    yield b.next("ended by peer")
    passed("end by the caller")
    outgoing, incoming = yield ring(b, a, name, "")
    incoming.refuse()
    assert (yield b.next("refused"))[1:3] == (name, a.account)
    passed("refuse")
    outgoing, incoming = yield ring(a, b, name, "")
    incoming.accept()
    yield a.next("accepted")
    incoming.end()
    yield b.next("ended by myself")
    yield a.next("ended by peer")
    passed("end by the callee")
    outgoing, incoming = yield ring(a, b, name, "")
    outgoing.end()
    yield a.next("ended by myself")
    yield b.next("ended by peer")
    passed("end before the answer")


@inlineCallbacks
def logouts(a, b):
    a.session.logout()
    assert (yield a.next("logout"))[1] == 101
    assert (yield b.status_of(a.account)) == 0
    b.send(a, "for your next login")
    yield b.next("sent")
    yield a.login()
    # Exactly this: no call or message of before is delivered again.
    assert (yield a.next("message"))[1:] == (b.account, "for your next login")
    passed("logout and login again")
    a.session.logout()
    b.session.logout()
    yield a.next("logout")
    yield b.next("logout")
    for user in (a, b):
        assert len(user.seen.entries) == user.seen.taken, f"unexpected: {user.seen.entries[user.seen.taken:]}"
    passed("nothing else happened")


@inlineCallbacks
def scenario(status):
    app, token_a, token_b, account_a, account_b, address_a, address_b = sys.argv[1:]
    a, b = User(app, token_a, account_a, address_a), User(app, token_b, account_b, address_b)
    try:
        yield messages(a, b)
        yield channel(a, b, "room of " + account_a)
        yield calls(a, b, "call of " + account_a)
        yield logouts(a, b)
        status.append(0)
    except Exception:
        traceback.print_exc()
        print(json.dumps({"failed": traceback.format_exc(limit=-1)}), flush=True)
    reactor.stop()


if __name__ == "__main__":
    outcome = []
    reactor.callWhenRunning(scenario, outcome)
    reactor.run()
    sys.exit(outcome[0] if outcome else 1)
