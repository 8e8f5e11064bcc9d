"""On which flavour of Redis the tests' clusters run: the switch, and which tests are for a single server only."""

import os

import pytest

FLAVOURS = ("single", "sentinel", "cluster")
# The switch. A cluster has three masters with a replica each; with Sentinels there is one master with a replica.
FLAVOUR = os.environ.get("HELIOGRAPH_TEST_REDIS") or "single"
MARKERS = (
    "single_redis(reason): runs with a single Redis server only",
    "every_redis: belongs to the short form, which `make test` runs on the other flavours too",
)


def up_options() -> list[str]:
    """The options of `Scripts/stack up` for this flavour. A test's own option --redis, which comes later, replaces it."""
    return [] if FLAVOUR == "single" else ["--redis", FLAVOUR]


def pytest_configure(config: pytest.Config) -> None:
    if FLAVOUR not in FLAVOURS:
        raise pytest.UsageError(f"HELIOGRAPH_TEST_REDIS is {FLAVOUR!r}: must be {', '.join(FLAVOURS)}")
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Drops the tests that are for a single server when there are several. They are not skipped: each runs on its flavour."""
    for item in items:
        for marker in item.iter_markers("single_redis"):
            if len(marker.args) != 1 or not marker.args[0]:
                raise pytest.UsageError(f"{item.nodeid}: single_redis without a reason")
    if FLAVOUR == "single":
        return
    dropped = [item for item in items if item.get_closest_marker("single_redis")]
    config.hook.pytest_deselected(items=dropped)
    items[:] = [item for item in items if item not in dropped]
