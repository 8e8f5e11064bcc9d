"""C1: idle connections."""

from ..load import Load
from ..paths import BenchError
from ..processes import total_rss_kib
from ..servers import Server

# The first connections are not counted: what a server sets up once is no cost of a connection.
FIRST = 200
# How many users log out at a time.
TOGETHER = 100
# Servers have nothing left to do when they use no more of a second's CPU time than this; a cluster without users takes 0.01.
QUIET_CPU_SECONDS = 0.03
QUIET_ATTEMPTS = 60


def standing(server: Server, connections: int = 10_000, channels: int = 1, pushes: bool = True) -> dict:
    """The cost of idle connections: memory, CPU time of their logins, and CPU time while nothing happens."""
    is_ours = server.driver == "heliograph"
    options = (["--push"] if pushes else ["--poll"]) if is_ours else []
    with Load(server, "idle", "--members", connections + FIRST, "--channels", channels, *options) as load:
        first = load.ask(f"open {FIRST}", "opened")
        facing = server.facing()
        load.tell_pids()
        before, all_before = total_rss_kib(load.names, facing), total_rss_kib(load.names)
        opened = load.ask(f"open {connections + FIRST}", "opened")
        load.ask("stand 2 0", "stood")
        after, all_after = total_rss_kib(load.names, facing), total_rss_kib(load.names)
        stood = load.ask("stand 10 0", "stood")
        pinged = load.ask("stand 10 10", "stood") if is_ours else None
    result = {
        "connections": opened["connections"],
        "rss_kib_per_connection": round((after - before) / connections, 2),
        "all_rss_kib_per_connection": round((all_after - all_before) / connections, 2),
        "cpu_ms_per_login": round(opened["cpu_seconds"] / connections * 1e3, 4),
        "cpu_by_process": opened["cpu_by_process"],
        "logins_per_second": round(connections / opened["seconds"]),
        "idle_percent": round(stood["cpu_seconds"] / stood["seconds"] * 100, 2),
        "idle_by_process": stood["cpu_by_process"],
        "whole": first["disconnected"] == opened["disconnected"] == stood["disconnected"] == 0,
    }
    if pinged:
        result["pinging_percent"] = round(pinged["cpu_seconds"] / pinged["seconds"] * 100, 2)
        result["pinging_by_process"] = pinged["cpu_by_process"]
        used = pinged["cpu_seconds"] - stood["cpu_seconds"]
        result["us_per_ping"] = round(used / max(1, pinged["answers"]) * 1e6, 2)
    return result


def again(server: Server, connections: int = 10_000, channels: int = 1, pushes: bool = True) -> dict:
    """The cost of logins and joins of users who have logged in before: what is stored for a user's first login is no part of it."""
    with Load(server, "idle", "--members", connections + FIRST, "--channels", channels, "--push" if pushes else "--poll") as load:
        known = load.ask(f"open {connections + FIRST}", "opened")
        ended = load.ask(f"logout {TOGETHER}", "closed")
        quiet_after = _until_quiet(load)
        first = load.ask(f"open {FIRST}", "opened")
        opened = load.ask(f"open {connections + FIRST}", "opened")
    return {
        "connections": opened["connections"],
        "cpu_ms_per_login": round(opened["cpu_seconds"] / connections * 1e3, 4),
        "cpu_by_process": opened["cpu_by_process"],
        "logins_per_second": round(connections / opened["seconds"]),
        "cpu_ms_per_first_login": round(known["cpu_seconds"] / (connections + FIRST) * 1e3, 4),
        "cpu_ms_per_logout": round(ended["cpu_seconds"] / (connections + FIRST) * 1e3, 4),
        "quiet_after_seconds": quiet_after,
        "whole": known["disconnected"] == ended["disconnected"] == first["disconnected"] == opened["disconnected"] == 0
        and known["connections"] == opened["connections"] == connections + FIRST and ended["answers"] == connections + FIRST,
    }


def _until_quiet(load: Load) -> float:
    """Waits until the servers have done what logouts leave for later: members' ends, rows of the mirrors. Returns the seconds."""
    waited = 0.0
    for _ in range(QUIET_ATTEMPTS):
        stood = load.ask("stand 1 0", "stood")
        if stood["cpu_seconds"] <= QUIET_CPU_SECONDS:
            return round(waited, 1)
        waited += stood["seconds"]
    raise BenchError(f"the servers are busy {waited:.0f} s after the last logout: {stood['cpu_by_process']}")
