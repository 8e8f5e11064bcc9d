"""How long operators wait for an answer: the first page of each view, and the queries of Docs/psql.md, with a million users in the tables.

Also what the triggers that keep the views' numbers add to a batch of the mirrors.
"""

import os
import re
import statistics
import subprocess
from pathlib import Path

from ..heliograph import Heliograph
from ..paths import ROOT, BenchError

DATA = Path(__file__).with_name("psql_data.sql")
NAMES = {"APP": "app1", "ACCOUNT": "user1", "CHANNEL": "room1", "NAME": "topic1"}
RUNS = 5
BOUND_MS = 100
VIEWS = "SELECT viewname FROM pg_views WHERE schemaname = 'public' ORDER BY 1"
BATCH = """
INSERT INTO channel_members AS m (app, channel, account, present, version, uid, joined_at)
SELECT 'app' || (g % 10), 'room' || (g * 7 + {number} * 1000) % 100000, 'new' || g, true, {number}, g, now() FROM generate_series(1, 1000) g
ORDER BY 1, 2, 3 ON CONFLICT (app, channel, account) DO UPDATE SET present = EXCLUDED.present, version = EXCLUDED.version
WHERE m.version < EXCLUDED.version;
"""


def _run(url: str, *arguments: str, text: str = "") -> str:
    done = subprocess.run(
        ["psql", url, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", *arguments], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"psql: {done.stderr}")
    return done.stdout


def _milliseconds(url: str, statement: str) -> float:
    """The median of some runs in one session, after a first one that reads the disk."""
    told = _run(url, text="\\timing on\n" + f"{statement};\n" * (RUNS + 1))
    times = [float(time) for time in re.findall(r"^Time: ([\d.]+) ms", told, re.MULTILINE)]
    return statistics.median(times[1:])


def _page_queries() -> list[str]:
    blocks = re.findall(r"^```sql\n(.*?)^```$", (ROOT / "Docs" / "psql.md").read_text(), re.MULTILINE | re.DOTALL)
    queries = [query.strip() for block in blocks for query in block.split(";\n") if query.strip()]
    for placeholder, name in NAMES.items():
        queries = [query.replace(f"'{placeholder}'", f"'{name}'") for query in queries]
    return queries


def _batches(url: str, first: int) -> float:
    return statistics.median(_milliseconds_of(url, BATCH.format(number=first + number)) for number in range(RUNS))


def _milliseconds_of(url: str, statement: str) -> float:
    return float(re.search(r"Time: ([\d.]+) ms", _run(url, text="\\timing on\n" + statement))[1])


def answers(url: str | None = None) -> dict:
    """:param url: a migrated, empty database; by default that of a cluster without services"""
    if url is None:
        with Heliograph() as server:
            # They would compare what is in the tables with Redis, and correct it.
            for member in server.endpoints()["services"]:
                server.kill(member["name"])
            return answers(server.endpoints()["postgres"]["url"])
    _run(url, "-f", str(DATA))
    views = {view: _milliseconds(url, f"SELECT * FROM {view} LIMIT 100") for view in _run(url, "-c", VIEWS).split()}
    queries = {query: _milliseconds(url, query) for query in _page_queries()}
    slowest = max(queries, key=queries.__getitem__)
    with_triggers = _batches(url, 1)
    _run(url, "-c", "ALTER TABLE channel_members DISABLE TRIGGER USER")
    without = _batches(url, 101)
    return {
        "views": len(views), "slowest_view": max(views, key=views.__getitem__), "slowest_view_ms": max(views.values()),
        "queries": len(queries), "slowest_query": " ".join(slowest.split()), "slowest_query_ms": queries[slowest],
        "over_100_ms": [name for name, time in (views | queries).items() if time >= BOUND_MS],
        "batch_ms": with_triggers, "batch_without_triggers_ms": without}


def measured() -> dict:
    return answers(os.environ.get("HELIOGRAPH_BENCH_POSTGRES"))
