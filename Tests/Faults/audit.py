"""Compares the lists that the cluster and PostgreSQL show with what the users of a run know."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from history import History, now
from stack_control import Stack
from user import User
from waiting import before_next_try

# Docs/failure-modes.md: the cluster's lists are right within a minute, PostgreSQL's copies within two.
GRACE_SECONDS, COPY_GRACE_SECONDS = 45, 105


@dataclass(frozen=True)
class Truth:
    """What the users of a run know."""

    run: str
    """The end of the run's accounts and channels."""
    online: list[str]
    rooms: dict[str, list[str]]
    """The members of each channel."""
    gone: list[str]
    """The accounts whose sessions must have ended."""


class Audit:
    """The lists, and the user who asks for them."""

    def __init__(self, stack: Stack, history: History, auditor: User):
        self._stack, self._history, self._auditor = stack, history, auditor

    async def compare(self, truth: Callable[[], Truth]) -> None:
        """Compares until all agree or the grace time is over, and records the last comparison."""
        began = now()
        agreed: dict[str, float] = {}
        while True:
            lists = await self._lists(truth())
            wrong = [what for what, (listed, known) in lists.items() if set(listed) != set(known)]
            agreed = {what: agreed.get(what, now() - began) for what in lists if what not in wrong}
            grace = COPY_GRACE_SECONDS if all(what.startswith("psql") for what in wrong) else GRACE_SECONDS
            if not wrong or now() > began + grace:
                break
            await before_next_try(1)
        for what, (listed, known) in lists.items():
            self._history.note("audit", what=what, listed=sorted(listed), truth=sorted(known), after=agreed.get(what))

    async def _lists(self, truth: Truth) -> dict[str, tuple[list[str], list[str]]]:
        online = await self._sql(f"select account from online_users where account like '%-{truth.run}'")
        pattern = f"{{*}}a:{self._stack.open_app.id}:u:*-{truth.run}:session"
        keys = await asyncio.to_thread(self._stack.redis_keys, pattern)
        stored = [key.removesuffix(":session").rpartition(":")[2] for key in keys]
        lists = {"psql's online_users": (online, truth.online), "Redis' sessions": (stored, truth.online)}
        for channel, members in truth.rooms.items():
            reply = await self._auditor.attempt("channel_query_userlist_all", name=channel)
            if reply.ok:
                lists[f"the list of {channel}"] = [account for account, _ in reply.data["list"]], members
            lists[f"psql's list of {channel}"] = await self._sql(
                f"select account from channel_member_list where channel = '{channel}'"), members
        answers = await asyncio.gather(*[
            self._auditor.attempt("user_query_user_status", account=account) for account in truth.gone])
        lists["status"] = [
            account for account, answer in zip(truth.gone, answers, strict=True) if answer.data.get("status") == 1], []
        return lists

    async def _sql(self, statement: str) -> list[str]:
        return [row[0] for row in await asyncio.to_thread(self._stack.sql, statement)]
