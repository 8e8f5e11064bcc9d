"""A storm and those who talk meanwhile, in miniature."""

import pytest
from bench.command import build_tools
from bench.scenarios import storm


@pytest.mark.parametrize("kind", ["kill", "cut"])
def test_a_storm_is_whole_and_others_are_heard(kind: str, monkeypatch: pytest.MonkeyPatch):
    build_tools()
    monkeypatch.setattr(storm, "CALM_SECONDS", 0.5)
    found = storm.storm(kind, members=100, channels=5)
    assert found["whole"] and found["resumed"] == found["lost"] == 100
    # Since the clocks of both generators are one: a message takes more than nothing, and less than the test.
    assert 0 < found["calm_p50_us"] <= found["calm_p99_us"] < 5e6 and 0 < found["p50_us"] <= found["p99_us"] <= found["max_us"] < 5e6
    assert found["expected"] == found["spoken"] * storm.OTHERS > 0
