"""Every process describes its metrics as Prometheus' conventions ask for, and Docs/monitoring/metrics.md lists them all."""

import re
import subprocess
from collections.abc import Iterator

import pytest
from fixtures import running
from metric_families import PAGE, check_or_write, families, of_stack, page, scraped
from stack_control import ROOT, Stack
from waiting import eventually_blocking


@pytest.fixture(scope="module")
def stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """Processes of every kind, also those that a cluster need not have."""
    with running(request, gateways=2, webhooks=1, media=1) as stack:
        yield stack


def test_promtool_finds_nothing_to_complain_about(stack: Stack):
    for member in stack.endpoints["gateways"] + stack.endpoints["services"]:
        done = subprocess.run(
            ["promtool", "check", "metrics"], input=scraped(member["http"]), capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{member['name']}: {done.stdout}{done.stderr}"
        assert done.stderr == "", f"{member['name']}: {done.stderr}"


def test_the_page_lists_what_the_processes_show(stack: Stack):
    # Connected to Redis: the metrics of its masters have series, and so labels.
    eventually_blocking(lambda: of_stack(stack)["heliograph_redis_memory_used_bytes"].values, "every master was asked")
    check_or_write(PAGE, page(of_stack(stack)))


def test_every_metric_has_values_from_the_start(make_stack):
    stack = make_stack(gateways=1, webhooks=1, media=1)
    eventually_blocking(lambda: of_stack(stack)["heliograph_redis_memory_used_bytes"].values, "every master was asked")
    for member in stack.endpoints["gateways"] + stack.endpoints["services"]:
        missing = {name for name, family in families(scraped(member["http"])).items() if not family.values}
        assert not missing, member["name"]


def test_the_release_is_the_one_of_the_changelog(stack: Stack):
    title = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert title
    for member in stack.endpoints["gateways"] + stack.endpoints["services"]:
        kind = member["name"].partition("#")[0]
        wanted = f'heliograph_build_info{{service="{kind}",version="{title[1].lower()}"}} 1'
        assert wanted in scraped(member["http"]).splitlines()


def test_bounds_name_metrics_that_exist(stack: Stack):
    known = set(of_stack(stack))
    table = [line for line in (ROOT / "Docs" / "bounds.md").read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    named = {name for line in table for name in re.findall(r"`((?:gateway|channel|user|invitation|media|postgres|redis|sip|commands|replies)_[a-z_]+)`", line)}
    named = {f"heliograph_{name}" for name in named if re.search(r"_(total|bytes|open|seconds)$", name)}
    assert len(named) > 20
    assert named <= known, named - known
