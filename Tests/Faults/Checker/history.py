"""What a population did and saw, as one flat list of records; a file of JSON lines when it is kept.

Every record has `kind` and times in seconds of one monotonic clock. Who writes what:

| kind | fields | meaning |
| --- | --- | --- |
| act | who, session, gateway, act, t0, asked, t1, ok, code, reason, + its own | asked for: first at `t0`, last at `asked`, over at `t1` |
| mail | who, session, t, sender, n, stale | an instant message was shown; stale: at or below what the client had seen |
| event | who, session, t, channel, type, account, n, name, stale | a channel event came |
| call | who, session, t, call, verb | an event of an invitation came |
| in | who, channel, t, asked, listed | from here on all that happens in the channel must reach this user; what happened since `asked`, when the join or the resume was asked for, may reach it too |
| out | who, channel, t, why | until here all that happens in the channel must reach this user |
| open, closed | who, connection, session, t, gateway / reason, code, wanted | a connection logged in or resumed; it ended |
| fault | name, t0, t1, frozen, forgive, twice, lapse, deaf | what was broken, until `t1`; what was acknowledged between `forgive` may be lost, messages sent between `twice` may come twice; for how many seconds a connection may go on sending after a login elsewhere, or after the times (`deaf`, the whole fault by default) in which its gateway may have heard nothing |
| phase | name, t | load, settle, reconnect, end |
| audit | what, t, listed, truth, after | a list of the cluster beside what the users know to be true; they agreed after so many seconds |
| lag | t, seconds | the population itself stood still |
| violation | who, text | a client was sent what no server may send |

`ok` is None when no answer came. Acts and their own fields: send(to, n), say(channel, n), join(channel), leave(channel), set(owner, name, n), get(owner,
name, n), poke(to), login, logout, and invite, invite_ack, invite_accept, invite_refuse, invite_bye(call, peer).
"""

import json
import time
from pathlib import Path


class History:
    """Collects the records of one run."""

    def __init__(self) -> None:
        self.records: list[dict] = []

    def note(self, kind: str, /, **fields: object) -> dict:
        """Adds a record, with the time unless it is given."""
        record = {"kind": kind, **fields}
        if "t" not in record and "t0" not in record:
            record["t"] = now()
        self.records.append(record)
        return record

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(record) + "\n" for record in self.records))


def now() -> float:
    return time.monotonic()
