"""Very many idle users, at as many gateways as the bound of open files asks for."""

from contextlib import ExitStack

from ..heliograph import Heliograph
from ..load import Load
from ..network import room
from ..processes import total_rss_kib

USERS = 100_000
# How many members a channel has.
MEMBERS = 100
# Less than a gateway's patience with clients that send nothing, 45 s.
IDLE_SECONDS = 20
# So long those who are there already send a ping now and then, while more log in; and how often.
KEEPING_SECONDS, PING_SECONDS = 30, 20


class _OneGateway:
    """A cluster as a load generator sees it that has all its connections at one gateway."""

    def __init__(self, server: Heliograph, port: int):
        self.server, self.ports = server, [port]

    def __getattr__(self, name: str) -> object:
        return getattr(self.server, name)


def idle(users: int = USERS) -> dict:
    """Memory of all processes a user, CPU time of a login and join (pings of those who are there included), and CPU time while all are idle.

    Each gateway has a load generator of its own, because both have no more than the same number of files.
    """
    gateways = -(-users // room())
    share = users // gateways
    options = ("--members", share, "--channels", max(1, share // MEMBERS), "--push")
    with Heliograph(gateways=gateways) as server, ExitStack() as loads:
        before = _memory(server)
        cpu, opened, whole = 0.0, 0, True
        there: list[Load] = []
        for number, port in enumerate(server.ports):
            load = loads.enter_context(Load(_OneGateway(server, port), "idle", *options, "--prefix", f"crowd{number}"))
            for other in there:
                other.send(f"stand {KEEPING_SECONDS} {PING_SECONDS}")
            answer = load.ask(f"open {share}", "opened")
            cpu, opened = cpu + answer["cpu_seconds"], opened + answer["connections"]
            whole = whole and answer["disconnected"] == 0
            whole = all([other.read("stood")["disconnected"] == 0 for other in there]) and whole
            there.append(load)
        # All send a ping, so that none is cut off while all are idle.
        for other in there:
            other.send(f"stand {PING_SECONDS} {PING_SECONDS}")
        whole = all([other.read("stood")["disconnected"] == 0 for other in there]) and whole
        after = _memory(server)
        stood = load.ask(f"stand {IDLE_SECONDS} 0", "stood")
    return {
        "users": opened, "gateways": gateways,
        "cpu_ms_per_login": round(cpu / max(1, opened) * 1e3, 4),
        "kib_per_user": {name: round((after[name] - before[name]) / max(1, opened), 2) for name in after},
        "idle_percent": round(stood["cpu_seconds"] / stood["seconds"] * 100, 2),
        "idle_by_process": stood["cpu_by_process"],
        "whole": whole and stood["disconnected"] == 0 and opened == share * gateways,
    }


def _memory(server: Heliograph) -> dict[str, int]:
    """Resident memory of all processes, by what they are."""
    processes = server.processes()
    return {name: total_rss_kib(processes, name) for name in sorted(set(processes.values()))}
