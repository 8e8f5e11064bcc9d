"""How long acts of a history took, for those whose keys were on a server that failed, and for the others."""

import math
from dataclasses import dataclass

import slots

# What a user does not notice: an answer that never came because it cut its own connection.
OWN_CUT = "connection lost"
# Answers that are right in a healthy cluster too: who moves on at that moment is no member any more.
ORDINARY = ("not_member",)


@dataclass(frozen=True)
class Failure:
    """A time in which a part of the slots was not served."""

    name: str
    begun: float
    healed: float
    slots: frozenset[int]


def taken(act: dict) -> float:
    """Seconds from asking to the answer."""
    return act["t1"] - act["t0"]


def acts(records: list[dict]) -> list[dict]:
    """The acts that were answered, and those that should have been."""
    return [record for record in records if record["kind"] == "act" and record["reason"] != OWN_CUT]


def refused(records: list[dict]) -> list[str]:
    """The acts that failed."""
    return [
        f"{act['who']}: {act['act']} {act['reason']}" for act in acts(records)
        if act["ok"] is not True and act["reason"] not in ORDINARY]


def split(app: str, records: list[dict], failure: Failure) -> tuple[list[dict], list[dict]]:
    """The acts under way during a failure: those whose keys were there, and the others."""
    during = [act for act in acts(records) if act["t0"] <= failure.healed and act["t1"] >= failure.begun]
    hit = [act for act in during if slots.of_act(app, act) & failure.slots]
    return hit, [act for act in during if not slots.of_act(app, act) & failure.slots]


def before(records: list[dict], t: float, seconds: float) -> list[dict]:
    """The acts that ended in the seconds before a time."""
    return [act for act in acts(records) if t - seconds <= act["t1"] <= t]


def quantile(found: list[dict], share: float) -> float:
    """The seconds within which that share of the acts was done."""
    ordered = sorted(map(taken, found))
    return ordered[math.ceil(share * len(ordered)) - 1] if ordered else 0


def worst(found: list[dict]) -> float:
    return max(map(taken, found), default=0)


def deliveries(records: list[dict]) -> list[tuple[float, float]]:
    """(asked, seconds until shown) of each instant message, for receivers who stayed connected."""
    by_pair: dict[tuple, float] = {}
    for act in acts(records):
        if act["act"] == "send":
            by_pair.setdefault((act["who"], act["to"], act["n"]), act["t0"])
    closed = [(record["who"], record["t"]) for record in records if record["kind"] == "closed"]
    found = []
    for mail in records:
        if mail["kind"] == "mail" and not mail["stale"] and (asked := by_pair.get((mail["sender"], mail["who"], mail["n"]))):
            if not any(who == mail["who"] and asked - 1 <= t <= mail["t"] for who, t in closed):
                found.append((asked, mail["t"] - asked))
    return found
