"""Users log in, do a bit of everything in new channels, and log out; afterwards the stores must hold what they held before."""

import asyncio
import random
import uuid
from dataclasses import dataclass

from answers import LoginRefused
from history import now
from signaling import Client
from stack_control import Stack, resident_mebibytes
from waiting import before_next_try_blocking

WORKERS, ACCOUNTS = 24, 150
# Lists the keys that never expire; if asked to, deletes the others, as time would.
LASTING = """
local cursor, lasting = '0', {}
repeat
  local page = redis.call('SCAN', cursor, 'COUNT', 1000)
  cursor = page[1]
  for _, key in ipairs(page[2]) do
    if redis.call('PTTL', key) == -1 then lasting[#lasting + 1] = key
    elseif ARGV[1] == 'sweep' then redis.call('DEL', key) end
  end
until cursor == '0'
return lasting
"""
LONGEST = """
local cursor, longest, name = '0', 0, ''
repeat
  local page = redis.call('SCAN', cursor, 'COUNT', 1000)
  cursor = page[1]
  for _, key in ipairs(page[2]) do
    local ms = redis.call('PTTL', key)
    if ms > longest then longest, name = ms, key end
  end
until cursor == '0'
return {longest, name}
"""
# Tables that hold a row for each account that ever existed, on purpose (all accounts exist before the first look), or no row at all.
TABLES = ("users", "user_attributes", "user_attribute_versions", "channel_attributes")
# Tables that keep rows for a limited time.
KEPT_TABLES = ("channel_attribute_versions", "applied_commands", "calls", "presence_sessions", "channel_members")
TIMES = {"channel_attribute_versions": ["updated_at"], "applied_commands": ["applied_at"], "calls": ["started_at", "ended_at"],
         "presence_sessions": ["updated_at"], "channel_members": ["updated_at"]}


@dataclass
class Footprint:
    """What a cluster's stores hold while nobody is online."""

    keys: set[str]
    redis_kib: int
    entries: int
    """Entries of all streams."""
    rows: dict[str, int]
    processes: dict[str, int]
    """The resident memory of each process, in MiB."""

    @staticmethod
    def of(stack: Stack, *, sweep: bool = False) -> "Footprint":
        """What the stores hold now; with `sweep`, without the keys that expire."""
        lists = stack.redis_everywhere("EVAL", LASTING, "0", *(["sweep"] if sweep else []))
        keys = {key for answer in lists for key in answer.splitlines()} - {""}
        used = _settled_memory(stack)
        entries = sum(int(stack.redis("XLEN", key)) for key in keys if stack.redis("TYPE", key) == "stream")
        rows = {table: int(stack.sql(f"select count(*) from {table}")[0][0]) for table in TABLES + KEPT_TABLES}
        processes = {name: resident_mebibytes(pid) for name, pid in stack.pids.items() if name != "postgres"}
        return Footprint(keys, used, entries, rows, processes)


def _settled_memory(stack: Stack) -> int:
    """KiB that all masters of Redis use, once they no longer shrink: their tables shrink in steps after many keys were deleted."""
    stack.redis_everywhere("MEMORY", "PURGE")
    last = None
    while True:
        lines = [line for memory in stack.redis_everywhere("INFO", "memory") for line in memory.splitlines()]
        used = sum(int(line.split(":")[1]) for line in lines if line.startswith("used_memory:")) // 1024
        if last is not None and used > last - 16:
            return used
        last = used
        before_next_try_blocking(0.5)


def age(stack: Stack) -> None:
    """Makes the rows of tables with a retention two years older. Rows that are being changed are skipped until the next time:
    an update that waits for no lock cannot deadlock."""
    for table, columns in TIMES.items():
        older = ", ".join(f"{column} = {column} - interval '2 years'" for column in columns)
        stack.sql(f"update {table} set {older} where ctid = any(array(select ctid from {table} "
                  f"where {columns[0]} > now() - interval '1 year' for update skip locked))")


class Soak:
    """The visitors."""

    def __init__(self, stack: Stack):
        self.stack = stack
        self.visits = 0
        self.free = [f"guest{number}" for number in range(ACCOUNTS)]

    async def register(self) -> None:
        """Every account logs in once, and sets a short time until a lost session ends."""
        gate = asyncio.Semaphore(20)

        async def one(account: str) -> None:
            async with gate:
                client = await Client(self.stack.open_app, account).login(random.choice(self.stack.gateways))
                await client.call("user_set_attr", name="_conn_timeout", value="20")
                await client.call("user_set_attr", name="mood", value="new")
                await client.logout()
                await client.close()

        await asyncio.gather(*[one(account) for account in self.free])

    async def run(self, seconds: float) -> None:
        until = now() + seconds
        await asyncio.gather(*[self._work(until) for _ in range(WORKERS)])

    async def _work(self, until: float) -> None:
        while now() < until:
            account = self.free.pop(random.randrange(len(self.free)))
            client = Client(self.stack.open_app, account)
            try:
                await client.login(random.choice(self.stack.gateways))
                left = await self._visit(client)
            except (OSError, LoginRefused) as error:
                raise AssertionError(f"{account} was turned away: {error}") from error
            self.free.append(account)
            client.violations.clear()
            if left:
                await client.close()
            else:
                client.abort()
                await client.closed.wait()
            self.visits += 1

    async def _visit(self, client: Client) -> bool:
        """A bit of everything; true after a logout, false when the connection is to break."""
        channel = f"soak-{uuid.uuid4().hex[:12]}"
        await client.join(channel)
        await client.call("channel_set_attr", channel=channel, name="_channel_ttl", value=random.choice("013"))
        for number in range(3):
            await client.say(channel, f"{number} " + "x" * 500)
            await client.call("channel_set_attr", channel=channel, name=f"name{number}", value="x" * 500)
        await client.call("user_set_attr", name="mood", value=f"mood number {random.randrange(100)}")
        # To an account that never logged in, and to one that did.
        for peer in (f"never-{uuid.uuid4().hex[:12]}", f"guest{random.randrange(ACCOUNTS)}"):
            await client.call("user_sendmsg", peer=peer, flag="v1:E:2", t="instant", content="x" * 500)
        if random.random() < 0.3:
            await client.attempt("voip_invite", channelName=channel, peer=f"guest{random.randrange(ACCOUNTS)}",
                                 extra='{"_timeout":1}')
        elsewhere = f"soak-{uuid.uuid4().hex[:12]}"
        if random.random() < 0.5:
            await client.join(elsewhere)
            await client.call("channel_set_attr", channel=elsewhere, name="_channel_ttl", value="0")
        if random.random() < 0.2:
            return False
        await client.logout()
        return True
