"""The limit program, which other servers are compared with."""

import json
import subprocess

import pytest
from bench import command, paths, servers, suite
from seccomp import IO_URING_SETUP, refuse

# More than a ring takes at once.
MEMBERS = 300


def test_the_limit_delivers_everything_with_system_calls_and_with_the_ring():
    done = subprocess.run(
        [paths.BENCHMARKS / "run", "F1", "--servers", "limit,ring", "--members", str(MEMBERS), "--rate", "20", "--seconds", "1"],
        capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(one["server"], one["whole"]) for one in results] == [("limit", True), ("ring", True)]
    assert all(one["delivered"] >= MEMBERS for one in results)


def test_a_kernel_that_refuses_the_ring_leaves_it_out_of_all_servers(tmp_path, monkeypatch, capsys):
    command.build_tools()
    refuse(IO_URING_SETUP, paths.TOOLS / "limit", tmp_path / "limit")
    monkeypatch.setattr(servers, "TOOLS", tmp_path)
    monkeypatch.setattr(command, "SERVERS", {name: command.SERVERS[name] for name in ("ring", "limit")})
    few = suite.f1(10, 20)
    command.measure(few, "all", seconds=0.5, saves=False)
    said = capsys.readouterr()
    assert [json.loads(line)["server"] for line in said.out.splitlines()] == ["limit"]
    assert said.err == "bench: F1 10x20 without ring: limit: io_uring: Operation not permitted\n"
    # Whoever asks for the ring by name is told that there is none.
    with pytest.raises(servers.RefusedByKernel, match="io_uring: Operation not permitted"):
        command.measure(few, "ring", seconds=0.5, saves=False)


def test_another_server_that_exits_with_the_same_code_is_not_left_out(tmp_path, monkeypatch):
    """Mosquitto does, when its configuration is wrong."""
    class Broken(servers.Program):
        name = "broken"

        def command(self) -> list[str]:
            return ["sh", "-c", "exit 3"]

    monkeypatch.setattr(servers, "WORK", tmp_path)
    monkeypatch.setattr(command, "SERVERS", {"broken": Broken})
    with pytest.raises(paths.BenchError, match="broken does not start"):
        command.measure(suite.f1(10, 20), "all", seconds=0.5, saves=False)
