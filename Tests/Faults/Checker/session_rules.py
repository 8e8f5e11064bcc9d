"""What holds for members, sessions and calls: no join, leave, kick or end without a cause, and none missing."""

import math
from collections import Counter
from collections.abc import Iterator

from records import NO_REASONS, SHORTEST_ABSENCE, UNKNOWN, Defect, Records, absent, cut_off, group, intervals


def moves(history: Records) -> Iterator[Defect]:
    """As each member sees them, joins and leaves alternate, and there is no leave event of a user who did not leave."""
    acts = group(history.acts("leave", "join", "logout", "login"), lambda act: act["who"])
    marks = group(
        sorted(history.of_kind["in"] + [out for out in history.of_kind["out"] if out["why"] not in NO_REASONS], key=lambda r: r["t"]),
        lambda mark: (mark["who"], mark["channel"]))
    absences = group([*absent(history), *cut_off(history)], lambda absence: absence[0])
    events = group(
        [r for r in history.of_kind["event"] if r["type"] in ("channel_user_join", "channel_user_leave") and not r["stale"]],
        lambda r: (r["who"], r["channel"]))
    begins = {(mark["who"], mark["channel"], mark["t"]): mark for mark in history.of_kind["in"]}
    for observer, channel, start, end in intervals(history):
        begin = begins[observer, channel, start]
        present, known = set(begin["listed"] or ()), begin["listed"] is not None
        # Its gateway may have been frozen when the answer came, whose list is then as old as the question.
        since = begin["asked"]
        seen_leaves: Counter = Counter()
        for event in events.get((observer, channel), []):
            who = event["account"]
            if not start <= event["t"] <= end or who == observer:
                continue
            moved = [act for act in acts.get(who, []) if act["t0"] <= event["t"]]
            forgiven = any(history.forgiven(act["t0"]) or history.forgiven(act["t1"]) for act in moved) \
                or any(history.forgiven(t) for _, t, _ in absences.get(who, []))
            joined = event["type"] == "channel_user_join"
            twice = known and (who in present) == joined
            (present.add if joined else present.discard)(who)
            if twice and not forgiven:
                yield "flaps", f"{observer} saw {who} {'join' if joined else 'leave'} {channel} twice at {event['t']:.2f}"
            if joined or twice:
                continue
            seen_leaves[who] += 1
            own = marks.get((who, channel), [])
            reasons = leaves(own, since, event["t"]) + undone_joins(moved, channel, since)
            reasons += sum(t + SHORTEST_ABSENCE - 1 <= event["t"] for _, t, _ in absences.get(who, []))
            if seen_leaves[who] > reasons and not forgiven:
                seen_leaves[who] -= 1
                yield "flaps", f"{observer} saw {who} leave {channel} at {event['t']:.2f}, who had not"


def leaves(marks: list[dict], since: float, until: float) -> int:
    """How often a user went out of a channel in the time of which an observer may have been told."""
    # A leave from before that time may have been carried out within it.
    before = [mark["kind"] for mark in marks if mark["t"] <= since][-1:] == ["out"]
    return before + sum(mark["kind"] == "out" and since < mark["t"] <= until for mark in marks)


def undone_joins(moved: list[dict], channel: str, since: float) -> int:
    """Joins of a channel that timed out after `since`: they are undone, which the others see as a leave."""
    return sum(
        act["act"] == "join" and act.get("channel") == channel and since < act["t1"]
        and (act["ok"] is None or not act["ok"] and act["reason"] in UNKNOWN) for act in moved)


def sessions(history: Records) -> Iterator[Defect]:
    """No session ends without cause, and no account has two sessions."""
    logins = group([r for r in history.of_kind["open"] if r["by"] == "login"], lambda r: r["who"])
    connections = {(r["who"], r["connection"]) for r in history.of_kind["open"]}
    alone = {who for who in logins if len({c for w, c in connections if w == who}) == 1}
    away = group(list(absent(history)), lambda absence: absence[0])
    cut = group(list(cut_off(history)), lambda absence: absence[0])
    logouts = group([act for act in history.acts("logout") if act["ok"] is None or act["reason"] in UNKNOWN], lambda act: act["who"])
    for record in history.of_kind["closed"]:
        if record["who"] not in alone or record["wanted"] or not record["reason"]:
            continue
        who, t = record["who"], record["t"]
        # A store that forgot the login, or while the user had no connection, knows nothing of the session.
        forgiven = any(history.forgiven(login["t"]) for login in logins[who]) or history.forgot and record["resuming"]
        # Whose gateway was cut off learns of the end when it is back.
        ended = cut.get(who, []) + (away.get(who, []) if record["resuming"] else [])
        gone = any(start + SHORTEST_ABSENCE - 1 <= t <= end + 1 for _, start, end in ended)
        # It may have logged out without an answer.
        left = record["resuming"] and any(act["session"] == record["session"] and act["asked"] < t for act in logouts.get(who, []))
        if not forgiven and not gone and not left:
            yield "kicked", f"{who} was told {record['reason']} at {t:.2f}"
    yield from doubles(history, logins)


def doubles(history: Records, logins: dict[str, list[dict]]) -> Iterator[Defect]:
    acts = group([act for act in history.of_kind["act"] if act["ok"] and act.get("connection")], lambda act: act["who"])
    closed = {(r["who"], r["connection"]): r["t"] for r in history.of_kind["closed"]}
    for who, found in logins.items():
        for older, newer in zip(found, found[1:], strict=False):
            if older["connection"] == newer["connection"]:
                continue
            if closed.get((who, older["connection"]), math.inf) > min(history.reconnect, history.end - 1):
                yield "other", f"{who}: connection {older['connection']} stayed after {newer['connection']} logged in"
            for act in acts.get(who, []):
                if act["connection"] == older["connection"] and act["asked"] > history.silenced(newer["t"]) and act["act"] == "poke":
                    yield "other", f"{who}: connection {older['connection']} still sent at {act['asked']:.2f}"


def calls(history: Records) -> Iterator[Defect]:
    """A call that began ends once on both sides."""
    acts = group(history.acts("invite", "invite_ack", "invite_accept", "invite_refuse", "invite_bye"), lambda act: act["call"])
    seen = group(history.of_kind["call"], lambda record: record["call"])
    logins = group([r for r in history.of_kind["open"] if r["by"] == "login"], lambda r: r["who"])
    for call, mine in acts.items():
        invite = next((act for act in mine if act["act"] == "invite"), None)
        if invite is None:
            yield "other", f"call {call}: nobody invited"
            continue
        for who in (invite["who"], invite["peer"]):
            if any(login["t"] > invite["t0"] for login in logins.get(who, [])) or history.forgiven(invite["t0"]):
                continue
            own = [act for act in mine if act["who"] == who]
            verbs = Counter(record["verb"] for record in seen.get(call, []) if record["who"] == who)
            ends = verbs["invite_refuse"] + verbs["invite_failed"] + verbs["invite_bye"]
            ends += sum(act["ok"] is True for act in own if act["act"] in ("invite_bye", "invite_refuse"))
            unknown = any(act["ok"] is not True and (act["ok"] is None or act["reason"] in UNKNOWN) for act in own)
            if who == invite["who"]:
                must, may = invite["ok"] is True, invite["ok"] is not False or invite["reason"] in UNKNOWN
            else:
                must, may = any(act["ok"] and act["act"] == "invite_ack" for act in own), verbs["invite"] > 0
            # The end may be this user's own, whose answer was lost.
            low, high = int(must and not unknown), int(may)
            if not low <= ends <= high:
                yield "other", f"call {call}: {ends} ends for {who} ({dict(verbs)}, {[(a['act'], a['ok']) for a in own]})"
