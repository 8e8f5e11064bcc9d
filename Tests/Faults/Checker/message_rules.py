"""What holds for messages and attributes: none lost, none repeated, all in order."""

from collections import defaultdict
from collections.abc import Iterator

from records import UNKNOWN, Defect, Records, group, intervals


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
    excused = {act["n"] for act in acts if history.may_come_twice(act["t0"])}
    for record in seen:
        n = record["n"]
        if (record["session"], n) in shown:
            yield "forgiven" if n in excused else "repeated", f"{name}: {n}"
        elif n in first:
            # What was not acknowledged comes again at the next login, and only then.
            continue
        else:
            first[n] = record
            if n < highest:
                yield "forgiven" if n in excused else "reordered", f"{name}: {n} after {highest}"
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
