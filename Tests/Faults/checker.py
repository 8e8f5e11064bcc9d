"""Judges a history: what was lost, repeated or out of order, and events of users who had not caused them."""

import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

# The deadline of an act at the gateway, and what a loaded machine may add.
DEADLINE, MARGIN = 8, 2
# An answer slower than this counts as "not healed yet".
SLOW = 2
# After this time without a connection (`_conn_timeout`), a user is offline.
SHORTEST_ABSENCE = 20
# Around a fault, messages may be under way for so long.
HEALING = 15
# Answers that leave open whether the act took effect.
UNKNOWN = ("timeout", "unavailable")

# Reasons for which a user no longer counts as a member, while the cluster and the others have seen no leave.
NO_REASONS = ("session lost", "told of a gap")

DEFECTS = ("lost", "repeated", "reordered", "flaps", "ghosts", "stuck", "kicked", "late", "other")
Defect = tuple[str, str]


@dataclass
class Verdict:
    """The line of a report, and the details behind its numbers."""

    sent: int = 0
    acknowledged: int = 0
    forgiven: int = 0
    """Messages that were acknowledged and not delivered, from the time by which a store was turned back."""
    heal: float = 0
    """Seconds from the end of the fault to the last act that failed or was slow."""
    defects: Counter = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not self.defects.total()


def check(records: list[dict]) -> Verdict:
    """Judges the whole history."""
    history = Records(records)
    verdict = Verdict()
    messages = history.acts("send") + history.acts("say")
    verdict.sent = len(messages)
    verdict.acknowledged = sum(act["ok"] is True for act in messages)
    verdict.heal = heal(history)
    for rule in (mail, channels, attributes, moves, sessions, calls, answers, audits, violations):
        for defect, text in rule(history):
            if defect == "forgiven":
                verdict.forgiven += 1
            else:
                verdict.defects[defect] += 1
                verdict.notes.append(f"{defect}: {text}")
    return verdict


class Records:
    """A history, indexed."""

    def __init__(self, records: list[dict]):
        self.of_kind: dict[str, list[dict]] = defaultdict(list)
        for record in records:
            self.of_kind[record["kind"]].append(record)
        self.faults = self.of_kind["fault"]
        self.end = max((r.get("t1") or r.get("t") or 0 for r in records), default=0)
        phases = {phase["name"]: phase["t"] for phase in self.of_kind["phase"]}
        self.reconnect = phases.get("reconnect", math.inf)
        self.settle = phases.get("settle", math.inf)

    def acts(self, *names: str) -> list[dict]:
        return [act for act in self.of_kind["act"] if act["act"] in names]

    def forgiven(self, t: float) -> bool:
        """Whether a store lost this moment."""
        return any(fault.get("forgive") and fault["forgive"][0] <= t <= fault["forgive"][1] for fault in self.faults)

    def under_way(self, act: dict) -> float:
        """Seconds that an acknowledged message may take to those who don't leave before."""
        disturbed = any(fault["t0"] <= act["t1"] + 1 and act["t0"] <= fault["t1"] + HEALING for fault in self.faults)
        return HEALING if disturbed else 1

    @property
    def forgot(self) -> bool:
        return any(fault.get("forgive") for fault in self.faults)


# Messages


def mail(history: Records) -> Iterator[Defect]:
    """Instant messages: once and in order per sender and receiver."""
    seen = defaultdict(list)
    for record in history.of_kind["mail"]:
        if not record["stale"]:
            seen[record["sender"], record["who"]].append(record)
    sends = group(history.acts("send"), lambda act: (act["who"], act["to"]))
    for pair in sends.keys() | seen.keys():
        yield from stream(history, f"{pair[0]} to {pair[1]}", sends.get(pair, []), seen.get(pair, []))


def channels(history: Records) -> Iterator[Defect]:
    """Channel messages: once and in order per sender and member, for as long as the member was there."""
    seen = defaultdict(list)
    for record in history.of_kind["event"]:
        if record["type"] == "channel_msg" and not record["stale"] and record.get("n") is not None:
            seen[record["account"], record["channel"], record["who"]].append(record)
    says = group(history.acts("say"), lambda act: (act["who"], act["channel"]))
    stays = group(intervals(history), lambda stay: stay[1])
    for (sender, channel), acts in says.items():
        for member, _, start, end in stays.get(channel, []):
            due = [
                act | {"ok": act["ok"] if start < act["t0"] and act["t1"] + history.under_way(act) < end else None}
                for act in acts]
            heard = [r for r in seen[sender, channel, member] if start <= r["t"] <= end]
            yield from stream(history, f"{sender} in {channel} to {member}", due, heard)


def stream(history: Records, name: str, acts: list[dict], seen: list[dict]) -> Iterator[Defect]:
    """One sender's numbered messages as one receiver saw them."""
    first: dict[int, dict] = {}
    shown = set()
    highest = -1
    for record in seen:
        n = record["n"]
        if (record["session"], n) in shown:
            yield "repeated", f"{name}: {n}"
        elif n in first:
            # What was not acknowledged comes again at the next login, and only then.
            continue
        else:
            first[n] = record
            if n < highest:
                yield "reordered", f"{name}: {n} after {highest}"
            highest = max(highest, n)
        shown.add((record["session"], n))
    for act in acts:
        arrived = first.get(act["n"])
        if act["ok"] is True and arrived is None:
            forgiven = history.forgiven(act["t0"]) or history.forgiven(act["t1"])
            yield "forgiven" if forgiven else "lost", f"{name}: {act['n']} acknowledged at {act['t1']:.2f}"
        elif act["ok"] is True and arrived["t"] > history.reconnect >= act["t1"]:
            yield "stuck", f"{name}: {act['n']} came with the reconnect only"
        elif act["ok"] is False and arrived is not None and act.get("reason") not in UNKNOWN:
            yield "other", f"{name}: {act['n']} was refused ({act.get('reason')}) and came"
    for n in first.keys() - {act["n"] for act in acts}:
        yield "other", f"{name}: {n} came and was never sent"


def intervals(history: Records) -> list[tuple[str, str, float, float]]:
    """(member, channel, from, to), in the order of their beginnings."""
    found, open_ones = [], {}
    marks = sorted(history.of_kind["in"] + history.of_kind["out"], key=lambda record: record["t"])
    for mark in marks:
        key = mark["who"], mark["channel"]
        start = open_ones.pop(key, None)
        if start is not None:
            found.append((*key, start, mark["t"]))
        if mark["kind"] == "in":
            open_ones[key] = mark["t"]
    found += [(*key, start, math.inf) for key, start in open_ones.items()]
    return sorted(found, key=lambda stay: stay[2])


# Attributes


def attributes(history: Records) -> Iterator[Defect]:
    """Each attribute has one writer with growing numbers: no read may show less than was acknowledged, or read before."""
    writes = group(history.acts("set"), lambda act: (act["owner"], act["name"]))
    reads = group([act for act in history.acts("get") if act["ok"]], lambda act: (act["owner"], act["name"]))
    for key, found in reads.items():
        yield from reads_of(history, "/".join(key), writes.get(key, []), found)
    told = group(
        [r for r in history.of_kind["event"] if r["type"] == "channel_attr_update" and not r["stale"] and r.get("n") is not None],
        lambda r: (r["who"], r["session"], r["channel"], r["name"]))
    for (who, _, channel, name), events in told.items():
        for one, other in zip(events, events[1:], strict=False):
            if other["n"] <= one["n"] and not history.forgot:
                yield "other", f"{who} was told {channel}/{name} {other['n']} after {one['n']}"


def reads_of(history: Records, name: str, writes: list[dict], reads: list[dict]) -> Iterator[Defect]:
    kept = [act for act in writes if act["ok"] and not history.forgiven(act["t0"]) and not history.forgiven(act["t1"])]
    last_read: dict[str, dict] = {}
    for read in sorted(reads, key=lambda act: act["t1"]):
        known = max((act["n"] for act in kept if act["t1"] < read["asked"]), default=0)
        if read["n"] < known:
            yield "other", f"{read['who']} read {name} {read['n']}, {known} was acknowledged before"
        before = last_read.get(read["who"])
        forgot = before and any(
            fault.get("forgive") and before["asked"] <= fault["t1"] and fault["forgive"][0] <= read["t1"] for fault in history.faults)
        if before and read["n"] < before["n"] and before["t1"] < read["asked"] and not forgot:
            yield "other", f"{read['who']} read {name} {read['n']} after {before['n']}"
        last_read[read["who"]] = read


# Members


def moves(history: Records) -> Iterator[Defect]:
    """As each member sees them, joins and leaves alternate, and there is no leave event of a user who did not leave."""
    acts = group(history.acts("leave", "join", "logout", "login"), lambda act: act["who"])
    marks = group(
        sorted(history.of_kind["in"] + [out for out in history.of_kind["out"] if out["why"] not in NO_REASONS], key=lambda r: r["t"]),
        lambda mark: (mark["who"], mark["channel"]))
    absences = group(list(absent(history)), lambda absence: absence[0])
    events = group(
        [r for r in history.of_kind["event"] if r["type"] in ("channel_user_join", "channel_user_leave") and not r["stale"]],
        lambda r: (r["who"], r["channel"]))
    begins = {(mark["who"], mark["channel"], mark["t"]): mark for mark in history.of_kind["in"]}
    for observer, channel, start, end in intervals(history):
        present = set(begins[observer, channel, start].get("listed") or ())
        known = begins[observer, channel, start].get("listed") is not None
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
            reasons = leaves(own, start, event["t"]) + undone_joins(moved, channel, start)
            reasons += sum(t + SHORTEST_ABSENCE - 1 <= event["t"] for _, t, _ in absences.get(who, []))
            if seen_leaves[who] > reasons and not forgiven:
                seen_leaves[who] -= 1
                yield "flaps", f"{observer} saw {who} leave {channel} at {event['t']:.2f}, who had not"


def leaves(marks: list[dict], start: float, until: float) -> int:
    """How often a user went out of a channel in the time that an observer saw."""
    # A leave from before that time may have been carried out within it.
    before = [mark["kind"] for mark in marks if mark["t"] <= start][-1:] == ["out"]
    return before + sum(mark["kind"] == "out" and start < mark["t"] <= until for mark in marks)


def undone_joins(moved: list[dict], channel: str, start: float) -> int:
    """Joins of a channel that timed out after `start`: they are undone, which the others see as a leave."""
    return sum(
        act["act"] == "join" and act.get("channel") == channel and start < act["t1"]
        and (act["ok"] is None or not act["ok"] and act["reason"] in UNKNOWN) for act in moved)


def absent(history: Records) -> Iterator[tuple[str, float, float]]:
    """(who, from, to): times without a connection that were long enough to be taken for the end."""
    ends = [record for record in history.of_kind["closed"] if not record["resuming"]]
    marks = group(sorted(history.of_kind["open"] + ends, key=lambda r: r["t"]), lambda r: r["who"])
    for who, found in marks.items():
        for one, other in zip(found, [*found[1:], {"kind": "end", "t": history.end}], strict=True):
            if one["kind"] == "closed" and other["t"] - one["t"] >= SHORTEST_ABSENCE - 1:
                yield who, one["t"], other["t"]


# Sessions


def sessions(history: Records) -> Iterator[Defect]:
    """No session ends without cause, and no account has two sessions."""
    logins = group([r for r in history.of_kind["open"] if r["by"] == "login"], lambda r: r["who"])
    connections = {(r["who"], r["connection"]) for r in history.of_kind["open"]}
    alone = {who for who in logins if len({c for w, c in connections if w == who}) == 1}
    away = defaultdict(list)
    for who, start, end in absent(history):
        away[who].append((start, end))
    for record in history.of_kind["closed"]:
        if record["who"] not in alone or record["wanted"] or not record["reason"]:
            continue
        who, t = record["who"], record["t"]
        # A store that forgot the login, or while the user had no connection, knows nothing of the session.
        forgiven = any(history.forgiven(login["t"]) for login in logins[who]) or history.forgot and record["resuming"]
        gone = record["resuming"] and any(start + SHORTEST_ABSENCE - 1 <= t <= end + 1 for start, end in away[who])
        if not forgiven and not gone:
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
                if act["connection"] == older["connection"] and act["asked"] > newer["t"] and act["act"] == "poke":
                    yield "other", f"{who}: connection {older['connection']} still sent at {act['asked']:.2f}"


# Calls


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


# Answers, lists, time to heal


def answers(history: Records) -> Iterator[Defect]:
    """Every act is answered in time, unless its gateway stood still or the connection broke."""
    for act in history.of_kind["act"]:
        if act["ok"] is None and act["reason"] != "unanswered":
            continue
        stood = sum(lag["seconds"] for lag in history.of_kind["lag"] if act["asked"] <= lag["t"] <= act["t1"] + lag["seconds"])
        stood += sum(
            max(0, min(act["t1"], fault["t1"]) - max(act["asked"], fault["t0"]))
            for fault in history.faults if act.get("gateway") in fault.get("frozen", ()))
        if act["t1"] - act["asked"] > DEADLINE + MARGIN + stood:
            yield "late", f"{act['who']}: {act['act']} {act['reason'] or 'answered'} after {act['t1'] - act['asked']:.1f} s"
    for act in history.acts("say"):
        if act["ok"] is False and act["reason"] == "not_member" and act.get("stays"):
            yield "other", f"{act['who']} was not_member in {act['channel']} at {act['t1']:.2f}"


def audits(history: Records) -> Iterator[Defect]:
    """No member without a session, no session without a member, after the grace time."""
    for audit in history.of_kind["audit"]:
        for account in sorted(set(audit["listed"]) - set(audit["truth"])):
            yield "ghosts", f"{account} in {audit['what']}"
        for account in sorted(set(audit["truth"]) - set(audit["listed"])):
            yield "other", f"{account} missing in {audit['what']}"


def violations(history: Records) -> Iterator[Defect]:
    for record in history.of_kind["violation"]:
        yield "other", f"{record['who']}: {record['text']}"


def heal(history: Records) -> float:
    """Seconds until no act failed or was slow any more."""
    ends = [fault["t1"] for fault in history.faults]
    if not ends:
        return 0
    bad = [
        act["t1"] for act in history.of_kind["act"]
        if act["ok"] is False and act["reason"] in (*UNKNOWN, "memory_full", "not_member") or act["t1"] - act["asked"] > SLOW]
    # Those who were cut off have to be back.
    opens = group(history.of_kind["open"], lambda record: record["connection"])
    for record in history.of_kind["closed"]:
        if not record["wanted"]:
            bad += [back["t"] for back in opens.get(record["connection"], []) if back["t"] > record["t"]][:1]
    return max(0.0, max((t for t in bad if t < history.settle), default=0) - max(ends))


def undelivered(records: list[dict]) -> int:
    """How many acknowledged messages somebody still waits for."""
    history = Records(records)
    return sum(defect == "lost" for rule in (mail, channels) for defect, _ in rule(history))


def group(records: Iterable, key) -> dict:
    found = defaultdict(list)
    for record in records:
        found[key(record)].append(record)
    return found


if __name__ == "__main__":
    import json

    judged = check([json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()])
    print(judged.sent, judged.acknowledged, dict(judged.defects), f"{judged.heal:.1f} s", *judged.notes, sep="\n")
