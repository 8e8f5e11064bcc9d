"""Docs/monitoring with a real Prometheus: its rules and dashboards work on what a cluster shows."""

import asyncio
import json
import re
import socket
import subprocess
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from fixtures import running
from metric_families import of_stack
from monitoring import DASHBOARDS, MONITORING, queries, rules
from stack_control import Stack
from waiting import eventually, eventually_blocking
from web import fetch

SERIES = re.compile(r"\b(?:heliograph|process)_[a-z_]+")
# What Prometheus itself makes of a target.
OWN_SERIES = {"up"}
# Queries for what has not happened in the test: Redis has no memory limit, so that its comparison with 0 is empty.
MAY_BE_EMPTY = {"max by (master) (heliograph_redis_memory_limit_bytes) > 0"}


def promtool(*words: str) -> None:
    done = subprocess.run(
        ["promtool", *words], cwd=MONITORING, capture_output=True, text=True, check=False, timeout=180)
    assert done.returncode == 0, done.stdout + done.stderr


class Prometheus:
    """A Prometheus that scrapes a cluster twice a second, with the configuration of Docs/monitoring but for its targets."""

    def __init__(self, stack: Stack, folder: Path):
        self.stack = stack
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as found:
            self.base = f"http://127.0.0.1:{found.getsockname()[1]}"
        self.process: subprocess.Popen | None = None

    def configure(self) -> Path:
        settings = yaml.safe_load((MONITORING / "prometheus.yml").read_text(encoding="utf-8"))
        settings["global"] = {"scrape_interval": "500ms", "evaluation_interval": "500ms"}
        settings["rule_files"] = [str(MONITORING / name) for name in settings["rule_files"]]
        members = self.stack.endpoints["gateways"] + self.stack.endpoints["services"]
        for job in settings["scrape_configs"]:
            del job["dns_sd_configs"]
            addresses = [
                member["http"].removeprefix("http://") for member in members
                if member["name"].partition("#")[0] == job["job_name"]]
            assert addresses, f"no process for the job {job['job_name']}"
            job["static_configs"] = [{"targets": addresses}]
        path = self.folder / "prometheus.yml"
        path.write_text(yaml.safe_dump(settings), encoding="utf-8")
        return path

    def __enter__(self) -> "Prometheus":
        log = (self.folder / "log").open("wb")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={self.configure()}", f"--storage.tsdb.path={self.folder / 'data'}",
             f"--web.listen-address={self.base.removeprefix('http://')}", "--log.level=warn"],
            stdout=log, stderr=log)
        eventually_blocking(self.scrapes_all, "every target is up", 30)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def get(self, path: str, **arguments: str) -> dict:
        query = urllib.parse.urlencode(arguments)
        with fetch(f"{self.base}/api/v1/{path}?{query}") as answer:
            return json.load(answer)["data"]

    def query(self, expression: str) -> list[dict]:
        return self.get("query", query=expression.replace("$__rate_interval", "5s"))["result"]

    def scrapes_all(self) -> bool:
        try:
            up = self.query("up == 1 and changes(process_cpu_seconds_total[5s]) >= 1")
        except OSError:
            return False
        return len(up) == len(self.stack.endpoints["gateways"] + self.stack.endpoints["services"])


@pytest.fixture(scope="module")
def stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """Processes of every kind, also those that a cluster need not have."""
    with running(request, gateways=2, webhooks=1, media=1) as stack:
        yield stack


@pytest.fixture(scope="module")
def prometheus(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    with Prometheus(stack, tmp_path_factory.mktemp("prometheus")) as prometheus:
        yield prometheus


def test_rules_are_well_formed_and_do_what_their_tests_say():
    promtool("check", "rules", "alerts.yml")
    promtool("check", "config", "--syntax-only", "prometheus.yml")
    promtool("test", "rules", "alerts_test.yml")


def test_every_alert_has_a_runbook_and_tests():
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names) > 20
    headings = re.findall(r"^## (\w+)$", (MONITORING / "runbooks.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == names
    for rule in rules():
        assert rule["annotations"]["runbook"] == f"Docs/monitoring/runbooks.md#{rule['alert'].lower()}"
    tested = yaml.safe_load((MONITORING / "alerts_test.yml").read_text(encoding="utf-8"))["tests"]
    cases = [(case["alertname"], bool(case["exp_alerts"])) for test in tested for case in test["alert_rule_test"]]
    # An alert may have several reasons to fire, and to stay quiet.
    assert set(cases) == {(name, fires) for name in names for fires in (False, True)}


def test_rules_dashboards_and_runbooks_name_series_that_exist(stack: Stack):
    known = OWN_SERIES | {name for family in of_stack(stack).values() for name in family.series | {family.name}}
    texts = {rule["alert"]: rule["expr"] for rule in rules()}
    texts |= {f"{path.name}: {query}": query for path in DASHBOARDS for query in queries(path)}
    texts["runbooks.md"] = (MONITORING / "runbooks.md").read_text(encoding="utf-8")
    for where, text in texts.items():
        assert set(SERIES.findall(text)) <= known, where
    assert len(texts) > 80


async def test_dashboards_show_something_for_a_cluster_in_use(prometheus: Prometheus, stack: Stack, people):
    async with people(stack) as cast:
        ann, bob = await cast.members("dashboards", "ann", "bob")
        await ann.tell(bob.account, "hello")
        await ann.say("dashboards", "hello all")
        await eventually(lambda: written(prometheus) > 0, "Prometheus has seen the message")
    empty = await asyncio.to_thread(missing, prometheus)
    assert not empty


def written(prometheus: Prometheus) -> float:
    """How many channel messages Prometheus knows of."""
    counted = prometheus.query('sum(heliograph_gateway_call_duration_seconds_count{call="channel_message"})')
    return float(counted[0]["value"][1]) if counted else 0


def missing(prometheus: Prometheus) -> list[str]:
    """The queries that have no answer; fails for one that Prometheus refuses."""
    wanted = [query for path in DASHBOARDS for query in queries(path) if query not in MAY_BE_EMPTY]
    return [query for query in wanted if not prometheus.query(query)]


def test_rules_are_evaluated_and_nothing_is_wrong_with_a_sound_cluster(prometheus: Prometheus):
    def evaluated() -> list[dict]:
        return [rule for group in prometheus.get("rules")["groups"] for rule in group["rules"] if rule["health"] == "ok"]

    eventually_blocking(lambda: len(evaluated()) == len(rules()), "every rule was evaluated without an error")
    firing = {rule["name"] for rule in evaluated() if rule["state"] == "firing"}
    assert not firing
