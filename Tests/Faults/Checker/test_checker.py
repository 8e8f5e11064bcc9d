"""The checker finds each defect in made-up histories, and none in a good one."""

import copy
import random

import pytest
from checker import check

FAULT = {"kind": "fault", "name": "test", "t0": 20.0, "t1": 22.0}


def act(what: str, who: str, t: float, /, *, ok: bool | None = True, took: float = 0.1, reason: str = "", **more: object) -> dict:
    return {"kind": "act", "act": what, "who": who, "session": 1, "connection": 1, "gateway": "gateway#1", "t0": t, "asked": t,
            "t1": t + took, "ok": ok, "code": None, "reason": reason, **more}


def mail(sender: str, who: str, n: int, t: float, *, session: int = 1, stale: bool = False) -> dict:
    return {"kind": "mail", "who": who, "session": session, "sender": sender, "n": n, "t": t, "stale": stale}


def event(who: str, kind: str, account: str, t: float, n: int | None = None, name: str | None = None) -> dict:
    return {"kind": "event", "who": who, "session": 1, "channel": "room", "type": kind, "account": account, "t": t, "n": n,
            "name": name, "stale": False}


def told(who: str, n: int, t: float) -> dict:
    return event(who, "channel_msg", "alice", t, n)


def ring(who: str, verb: str, t: float) -> dict:
    return {"kind": "call", "who": who, "session": 1, "call": "c1", "verb": verb, "t": t}


def opened(who: str, t: float, *, by: str = "login", connection: int = 1) -> dict:
    return {"kind": "open", "who": who, "connection": connection, "session": 1, "gateway": "gateway#1", "by": by, "t": t}


def closed(who: str, t: float, reason: object = None, *, connection: int = 1, wanted: bool = False, resuming: bool = False) -> dict:
    return {"kind": "closed", "who": who, "connection": connection, "session": 1, "t": t, "reason": reason, "code": 1000,
            "wanted": wanted, "resuming": resuming}


def here(who: str, t: float, *listed: str, asked: float | None = None) -> dict:
    return {"kind": "in", "who": who, "channel": "room", "t": t, "asked": t - 0.1 if asked is None else asked, "listed": [who, *listed]}


def gone(who: str, t: float, why: str = "leaves") -> dict:
    return {"kind": "out", "who": who, "channel": "room", "t": t, "why": why}


def good() -> list[dict]:
    """The history of a good run with few users."""
    records = [{"kind": "phase", "name": name, "t": t} for name, t in (("load", 0), ("settle", 40), ("reconnect", 50), ("end", 60))]
    records += [copy.deepcopy(FAULT)]
    for t, who in enumerate(("alice", "bob", "carol", "dave")):
        records += [opened(who, t / 10), act("login", who, t / 10)]
    records += [here("alice", 1.0), here("bob", 1.1, "alice"), event("alice", "channel_user_join", "bob", 1.1)]
    for n in range(1, 21):
        t = 2.0 + n
        records += [act("send", "alice", t, to="bob", n=n), mail("alice", "bob", n, t + 0.2)]
        records += [act("say", "alice", t, channel="room", n=n), told("alice", n, t + 0.1), told("bob", n, t + 0.2)]
        records += [act("set", "alice", t, owner="alice", name="mood", n=n),
                    act("get", "carol", t + 0.3, owner="alice", name="mood", n=n),
                    event("bob", "channel_attr_update", "alice", t + 0.2, n, "topic")]
    # Carol comes and goes.
    records += [act("join", "carol", 5.0), here("carol", 5.1, "alice", "bob")]
    records += [told("carol", n, 2.2 + n) for n in range(4, 17)]
    records += [event(who, "channel_user_join", "carol", 5.1) for who in ("alice", "bob")]
    records += [gone("carol", 18.5), act("leave", "carol", 18.5)]
    records += [event(who, "channel_user_leave", "carol", 18.6) for who in ("alice", "bob")]
    # Dave is away for long: others see that, and his session is over.
    records += [act("join", "dave", 1.5), here("dave", 1.6, "alice", "bob"), event("alice", "channel_user_join", "dave", 1.6)]
    records += [gone("dave", 2.0, "gone"), closed("dave", 2.0)]
    records += [event("alice", "channel_user_leave", "dave", 22.5), closed("dave", 30.0, "bad_line", resuming=True)]
    # A call that is refused, and one that is accepted.
    records += [act("invite", "alice", 3.0, call="c1", peer="bob"), ring("bob", "invite", 3.1),
                act("invite_ack", "bob", 3.2, call="c1", peer="alice"), act("invite_refuse", "bob", 3.3, call="c1", peer="alice"),
                ring("alice", "invite_ack", 3.3), ring("alice", "invite_refuse", 3.4)]
    records += [{"kind": "audit", "what": "the list", "t": 55.0, "listed": ["alice", "bob"], "truth": ["alice", "bob"]}]
    # A second login ends the first.
    records += [opened("erin", 1.0), opened("erin", 2.0, connection=2), closed("erin", 2.1, "kick")]
    return records


def without(records: list[dict], *gone: dict) -> list[dict]:
    left = [record for record in records if record not in gone]
    assert len(left) == len(records) - len(gone), "the test takes away what is not there"
    return left


def test_a_good_history_is_clean():
    verdict = check(good())
    assert verdict.clean, verdict.notes
    assert (verdict.sent, verdict.acknowledged, verdict.heal) == (40, 40, 0)
    shuffled = good()
    random.Random(1).shuffle(shuffled)
    shuffled.sort(key=lambda record: record.get("t", record.get("t0")))
    assert check(shuffled).clean


def find(kind: str, /, **fields: object):
    """The one record of the good history that has these fields."""
    found = [r for r in good() if r["kind"] == kind and all(r.get(name) == value for name, value in fields.items())]
    assert len(found) == 1, found
    return found[0]


def answered_late(asked: float) -> list[dict]:
    """Erin's join is answered at 23, with the list of when it was `asked`; what Frank did since then follows."""
    frank = [here("frank", 20.1, "alice", "bob"), gone("frank", 20.6), here("frank", 20.7, "alice", "bob"), gone("frank", 20.9)]
    moves = [("join", 20.1), ("leave", 20.6), ("join", 20.7), ("leave", 20.9)]
    events = [event(who, f"channel_user_{kind}", "frank", t) for kind, t in moves for who in ("alice", "bob")]
    events += [event("erin", f"channel_user_{kind}", "frank", 23.1) for kind, _ in moves[1:]]
    return [*frank, *events, here("erin", 23.0, "alice", "bob", "frank", asked=asked)]


MISSING = find("mail", n=7)
DEFECTS = {
    "a message is lost": ("lost", lambda h: without(h, MISSING)),
    "a channel message is lost": ("lost", lambda h: without(h, find("event", who="bob", type="channel_msg", n=9))),
    "a message was shown as old": ("lost", lambda h: [*without(h, MISSING), MISSING | {"stale": True}]),
    "a visitor misses a message": ("lost", lambda h: without(h, find("event", who="carol", n=10))),
    "a message comes twice": ("repeated", lambda h: [*h, mail("alice", "bob", 7, 12.0)]),
    "a channel message comes twice": ("repeated", lambda h: [*h, told("bob", 9, 12.0)]),
    "messages change places": (
        "reordered", lambda h: [r | {"n": {7: 8, 8: 7}.get(r["n"], r["n"])} if r["kind"] == "mail" else r for r in h]),
    "a message comes with the reconnect": ("stuck", lambda h: [*without(h, find("mail", n=20)), mail("alice", "bob", 20, 50.5)]),
    "a channel message comes with the reconnect": (
        "stuck", lambda h: [*without(h, find("event", who="bob", type="channel_msg", n=20)), told("bob", 20, 50.5)]),
    "a refused message comes": (
        "other", lambda h: [*h, act("send", "alice", 25.0, ok=False, reason="rate_limited", to="bob", n=30), mail("alice", "bob", 30, 25.2)]),
    "a message comes from nowhere": ("other", lambda h: [*h, mail("alice", "bob", 99, 25.0)]),
    "an attribute read goes back": ("other", lambda h: [*h, act("get", "carol", 25.0, owner="alice", name="mood", n=19)]),
    "a reader sees less than before": (
        "other", lambda h: [*h, act("set", "alice", 25.0, ok=None, took=9, owner="alice", name="mood", n=21),
                            act("get", "carol", 25.5, owner="alice", name="mood", n=21),
                            act("get", "carol", 26.0, owner="alice", name="mood", n=20)]),
    "an update tells an older value": ("other", lambda h: [*h, event("bob", "channel_attr_update", "alice", 25.0, 19, "topic")]),
    "one who stays is said to leave": ("flaps", lambda h: [*h, event("alice", "channel_user_leave", "bob", 22.0)]),
    "one whose gateway was not cut off is said to leave": (
        "flaps", lambda h: [*without(h, FAULT), FAULT | {"t1": 40.0, "cut": ["gateway#2"]}, event("alice", "channel_user_leave", "bob", 39.5)]),
    "a join is told twice": ("flaps", lambda h: [*h, event("alice", "channel_user_join", "bob", 22.0)]),
    "a join is never told": ("flaps", lambda h: without(h, find("event", who="bob", type="channel_user_join", account="carol"))),
    "leaves from before a join was asked for": ("flaps", lambda h: [*h, *answered_late(20.95)]),
    "a leave is told twice": ("flaps", lambda h: [*h, event("bob", "channel_user_leave", "carol", 19.0)]),
    "a ghost is listed": ("ghosts", lambda h: [*h, {"kind": "audit", "what": "psql", "t": 56.0, "listed": ["dave"], "truth": []}]),
    "a user is missing": ("other", lambda h: [*h, {"kind": "audit", "what": "psql", "t": 56.0, "listed": [], "truth": ["bob"]}]),
    "a user is kicked by nobody": ("kicked", lambda h: [*h, closed("bob", 24.0, "kick")]),
    "a session is forgotten": ("kicked", lambda h: [*h, closed("bob", 24.0), closed("bob", 25.0, "bad_line", resuming=True)]),
    "two sessions of one account live": ("other", lambda h: without(h, find("closed", who="erin"))),
    "an old session still sends": ("other", lambda h: [*h, act("poke", "erin", 2.05)]),
    "an old session still sends after its moment": (
        "other", lambda h: [*without(h, FAULT), FAULT | {"lapse": 0.1}, act("poke", "erin", 2.15)]),
    "an old session still sends long after the fault": (
        "other", lambda h: [*without(h, FAULT), FAULT | {"t0": 1.5, "t1": 5.0, "lapse": 0.5}, act("poke", "erin", 5.6)]),
    "an old session still sends, though its master was away only later": (
        "other", lambda h: [*without(h, FAULT), FAULT | {"t0": 1.5, "t1": 9.0, "lapse": 0.5, "deaf": [[4.0, 5.0]]}, act("poke", "erin", 3.0)]),
    "an old session still sends long after its master is back": (
        "other", lambda h: [*without(h, FAULT), FAULT | {"t0": 1.5, "t1": 9.0, "lapse": 0.5, "deaf": [[1.9, 5.0]]}, act("poke", "erin", 5.6)]),
    "a session is forgotten before its user logs out": (
        "kicked", lambda h: [*h, closed("bob", 24.0), closed("bob", 25.0, "bad_line", resuming=True), act("logout", "bob", 26.0, ok=None)]),
    "a call never ends for its caller": ("other", lambda h: without(h, find("call", verb="invite_refuse"))),
    "a call ends twice for its caller": ("other", lambda h: [*h, ring("alice", "invite_failed", 20.0)]),
    "a call ends twice for the callee": ("other", lambda h: [*h, ring("bob", "invite_bye", 20.0)]),
    "a call never ends for the callee": ("other", lambda h: without(h, find("act", act="invite_refuse"))),
    "an answer is late": ("late", lambda h: [*h, act("send", "bob", 20.0, ok=False, took=13, reason="timeout", to="alice", n=1)]),
    "an answer never comes": ("late", lambda h: [*h, act("get", "bob", 20.0, ok=None, took=40, reason="unanswered")]),
    "a member is no member": (
        "other", lambda h: [*h, act("say", "bob", 25.0, ok=False, reason="not_member", channel="room", n=1, stays=True)]),
    "a frame that no server sends": ("other", lambda h: [*h, {"kind": "violation", "who": "bob", "t": 1.0, "text": "a binary frame"}]),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_each_defect_is_seen(name: str):
    defect, spoil = DEFECTS[name]
    verdict = check(spoil(good()))
    assert set(verdict.defects) == {defect}, verdict.notes


PARDONED = {
    "a frozen gateway answers late": lambda h: [
        *without(h, FAULT), FAULT | {"t1": 32.0, "frozen": ["gateway#1"]},
        act("send", "bob", 21.0, ok=False, took=15, reason="timeout", to="alice", n=1)],
    "a session ends whose gateway is cut off": lambda h: [
        *without(h, FAULT), FAULT | {"t1": 40.0, "cut": ["gateway#1"]}, event("alice", "channel_user_leave", "bob", 39.5),
        closed("bob", 40.5, "102")],
    "the population stood still": lambda h: [
        *h, {"kind": "lag", "t": 24.0, "seconds": 5.0}, act("get", "bob", 20.0, ok=False, took=13, reason="timeout")],
    "a store forgot the message": lambda h: [*without(h, FAULT, MISSING), FAULT | {"forgive": [8.5, 10.0]}],
    "a master that was suspended still had it": lambda h: [
        *without(h, FAULT), FAULT | {"twice": [8.5, 10.0]}, mail("alice", "bob", 7, 12.0)],
    "a connection still sends for a moment": lambda h: [*without(h, FAULT), FAULT | {"lapse": 0.1}, act("poke", "erin", 2.05)],
    "a connection sends when its gateway hears again": lambda h: [
        *without(h, FAULT), FAULT | {"t0": 1.5, "t1": 5.0, "lapse": 0.5}, act("poke", "erin", 5.2)],
    "a connection sends when its master is back": lambda h: [
        *without(h, FAULT), FAULT | {"t0": 1.5, "t1": 9.0, "lapse": 0.5, "deaf": [[1.9, 5.0]]}, act("poke", "erin", 5.2)],
    "a session ended by a logout whose answer was lost": lambda h: [
        *h, act("logout", "bob", 24.0, ok=None, reason="connection lost"), closed("bob", 24.1),
        closed("bob", 24.2, "bad_line", resuming=True)],
    "one who leaves misses what is under way": lambda h: without(h, find("event", who="carol", n=16)),
    "an unknown outcome": lambda h: [
        *h, act("send", "alice", 25.0, ok=False, reason="timeout", to="bob", n=21),
        act("send", "alice", 26.0, ok=None, reason="connection lost", to="bob", n=22), mail("alice", "bob", 22, 26.5)],
    "a join is answered when its gateway is thawed": lambda h: [*h, *answered_late(20.2)],
    "a join that timed out is undone": lambda h: [
        *h, act("join", "carol", 20.0, ok=False, took=8, reason="timeout", channel="room"),
        *[event(who, f"channel_user_{kind}", "carol", 28.2) for kind in ("join", "leave") for who in ("alice", "bob")]],
    "the next session is told again": lambda h: [*h, mail("alice", "bob", 20, 30.0, session=2)],
}


@pytest.mark.parametrize("name", PARDONED)
def test_what_nobody_promises_is_no_defect(name: str):
    verdict = check(PARDONED[name](good()))
    assert verdict.clean, verdict.notes


def test_what_a_store_forgot_is_counted():
    assert check(PARDONED["a store forgot the message"](good())).forgiven == 1


def test_healing_lasts_until_the_last_failure_or_slow_answer():
    failed = act("send", "alice", 25.0, ok=False, reason="timeout", to="bob", n=21)
    slow = act("get", "carol", 27.0, took=3, owner="bob", name="mood", n=0)
    assert check([*good(), failed]).heal == pytest.approx(3.1)
    assert check([*good(), failed, slow]).heal == pytest.approx(8)
