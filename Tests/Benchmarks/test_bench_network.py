"""What benchmarks say of the machine's network settings, and what they do where there is no room for their connections."""

import json
import subprocess

import pytest
from bench import network, paths, report, results
from bench.load import connections

RUN = paths.BENCHMARKS / "run"


def run(files: int, *arguments: str) -> subprocess.CompletedProcess:
    """`Benchmarks/run` by a process whose hard bound of open files is this, and whose soft one is half of it."""
    return subprocess.run(
        ["prlimit", f"--nofile={files // 2}:{files}", RUN, *arguments], capture_output=True, text=True, timeout=120, check=False)


def test_the_bound_of_files_is_raised_and_told_with_the_congestion_control():
    done = run(1200, "F1", "--servers", "limit", "--members", "700", "--seconds", "1")
    assert done.returncode == 0, done.stderr
    assert f"TCP congestion control {network.congestion_control()}, 1,200 open files in a process at most" in done.stderr
    assert json.loads(done.stdout)["delivered"] > 0


def test_a_load_without_room_fails_with_the_bound():
    done = run(1000, "F1", "--servers", "limit", "--members", "900")
    assert done.returncode == 1
    assert "needs 901 connections: the bound of 1,000 open files leaves room for 800; raise it" in done.stderr


def test_idle_connections_are_fewer_where_there_is_no_room(monkeypatch, capsys):
    monkeypatch.setattr(network, "files", lambda: 20_000)
    assert network.reduced(17_800, 200, "C1") == 17_800
    assert not capsys.readouterr().err
    assert network.reduced(20_000, 200, "C1") == 17_800
    assert "C1 has 17,800 connections, not 20,000: the bound of 20,000 open files leaves room for 18,000" in capsys.readouterr().err
    monkeypatch.setattr(network, "files", lambda: 300)
    with pytest.raises(paths.BenchError, match="300 open files leaves room for 100"):
        network.reduced(20_000, 200, "C1")


def test_connections_of_a_load_are_counted():
    assert connections(["--app", "a", "--members", "10", "--others", "5", "--push", "--pairs", "3", "--publishers", "2"]) == 23


def test_results_are_stored_with_the_settings_and_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "RUNS", tmp_path / "runs.json")
    results.add("P1", "limit", {"us_per_message": 5.0})
    runs = results.load(results.RUNS)
    stored = runs["P1"]["limit"][0]
    assert (stored["congestion_control"], stored["open_files"]) == (network.congestion_control(), network.files())
    runs["P1"]["limit"] = [{"us_per_message": 5.0, "congestion_control": name, "open_files": 20_000} for name in ("cubic", "bbr")]
    settings = "TCP congestion control {}, 20,000 open files in a process at most"
    assert f"Measured under: {settings.format('bbr')}; {settings.format('cubic')}." in report._text(runs)
