"""Waits until members serve, and says why when they don't."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable

from . import hosts, networks, postgres_store, proxies, redis_store
from .errors import StackError
from .record import Member, Record

READY_SECONDS = 60
PROBE_SECONDS = 3
LOG_LINES = 15


def problem(member: Member) -> str | None:
    """Why a running member doesn't serve yet; None when it does."""
    if not member.is_running:
        return "not running"
    if member.kind in ("redis", "sentinel"):
        return redis_store.problem(member)
    if member.kind == "postgres":
        return postgres_store.problem(member)
    if member.kind == proxies.KIND:
        return proxies.proxy_problem(member)
    if member.kind == hosts.WIRE:
        return hosts.wire_problem(member)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with networks.entered(member.network), opener.open(f"{member.http}/readyz", timeout=PROBE_SECONDS) as answer:
            return None if answer.status == 200 else f"/readyz answers {answer.status}"
    except urllib.error.HTTPError as error:
        return f"/readyz answers {error.code}: {_compact(error.read(2000))}"
    except (OSError, ValueError) as error:
        return f"/readyz: {getattr(error, 'reason', error)}"


def silence(member: Member) -> str | None:
    """Like `problem`, but it is enough for a server of Redis to answer: alone it can be no cluster."""
    if member.is_running and member.kind in ("redis", "sentinel"):
        return redis_store.silence(member)
    return problem(member)


def wait_ready(
        record: Record, members: Iterable[Member], seconds: float = READY_SECONDS,
        problem: Callable[[Member], str | None] = problem) -> None:
    """Returns when none has a problem; raises with each one's last reason at the deadline, or when one has ended."""
    deadline = time.monotonic() + seconds
    waiting = {member.name: member for member in members}
    while True:
        reasons = {name: problem(member) for name, member in waiting.items()}
        waiting = {name: member for name, member in waiting.items() if reasons[name]}
        if not waiting:
            return
        ended = [member for member in waiting.values() if not member.is_running]
        if ended or time.monotonic() > deadline:
            lines = [f"  {name}: {reasons[name]}" for name in waiting]
            for member in ended[:2] or list(waiting.values())[:2]:
                lines += [f"  --- last lines of {record.log(member.name)}", *_tail(record, member.name)]
            cause = "ended at start-up" if ended else f"not ready after {seconds:.0f} s"
            raise StackError(f"{', '.join(waiting)} {cause}:\n" + "\n".join(lines))
        time.sleep(0.1)


def _tail(record: Record, name: str) -> list[str]:
    try:
        lines = record.log(name).read_text(errors="replace").splitlines()
    except OSError:
        return []
    return [f"  {line[:400]}" for line in lines[-LOG_LINES:]]


def _compact(body: bytes) -> str:
    try:
        return json.dumps(json.loads(body), separators=(",", ":"))
    except ValueError:
        return body.decode(errors="replace").strip()
