"""C1: idle connections."""

from ..load import Load
from ..processes import total_rss_kib
from ..servers import Server

# The first connections are not counted: what a server sets up once is no cost of a connection.
FIRST = 200


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
