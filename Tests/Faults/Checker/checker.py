"""Judges a history: what was lost, repeated or out of order, and which events had no cause."""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from message_rules import attributes, channels, mail
from records import DEADLINE, MARGIN, SLOW, UNKNOWN, Defect, Records, group
from session_rules import calls, moves, sessions

DEFECTS = ("lost", "repeated", "reordered", "flaps", "ghosts", "stuck", "kicked", "late", "other")


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

    def add(self, defect: str, text: str) -> None:
        """One more violation."""
        self.defects[defect] += 1
        self.notes.append(f"{defect}: {text}")

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
                verdict.add(defect, text)
    return verdict


def answers(history: Records) -> Iterator[Defect]:
    """Every act is answered in time, unless its gateway was frozen or the connection broke."""
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


if __name__ == "__main__":
    import json

    judged = check([json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()])
    print(judged.sent, judged.acknowledged, dict(judged.defects), f"{judged.heal:.1f} s", *judged.notes, sep="\n")
