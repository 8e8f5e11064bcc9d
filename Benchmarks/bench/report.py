"""Writes RESULTS.md and results.json from the runs."""

import json

from . import live, micro, results
from .goals import OURS, goals
from .paths import BENCHMARKS

ORDER = ("limit", "ring", "coalescing", "heliograph", "nchan", "redis", "mosquitto", "nats", "ejabberd")
TITLES = {
    "ring": "limit, io_uring", "coalescing": "limit, coalescing", "heliograph": "**Heliograph**", "ejabberd": "ejabberd MUC"}
# Scenario, field, how it is shown, title.
TABLE = (
    ("F1 1000x50", "us_per_delivery", "{:.2f}", "F1, 1,000 members, 50 msg/s: us per delivery"),
    ("F1 100x500", "us_per_delivery", "{:.2f}", "F1, 100 members, 500 msg/s: us per delivery"),
    ("F1 5000x10", "us_per_delivery", "{:.2f}", "F1, 5,000 members, 10 msg/s: us per delivery"),
    ("F2 1000", "deliveries_per_second", "{:,.0f}", "F2, 1,000 members, as fast as it goes: deliveries/s"),
    ("F2 1000", "us_per_delivery", "{:.3f}", "F2: us per delivery there"),
    ("P1", "us_per_message", "{:.1f}", "P1, 100 pairs, closed loop: us per message (pushes)"),
    ("P1 old", "us_per_message", "{:.1f}", "P1, clients that are told and poll"),
    ("C1 10000", "rss_kib_per_connection", "{:.2f}", "C1, 10,000 idle members: KiB RSS per connection"),
    ("C1 10000", "cpu_ms_per_login", "{:.3f}", "C1: CPU ms per login + join"),
    ("C1 10000 known", "cpu_ms_per_login", "{:.3f}", "C1, users who have logged in before: CPU ms per login + join"),
    ("C1 10000", "idle_percent", "{:.1f}", "C1: percent of a core when idle"),
)


def write() -> str:
    runs = results.load()
    text = _text(runs)
    (BENCHMARKS / "RESULTS.md").write_text(text)
    document = {"machine": results.machine(), "goals": ratios(runs), "micro": micro.kept(), "live": live.kept(), "runs": runs}
    (BENCHMARKS / "results.json").write_text(json.dumps(document, indent=1) + "\n")
    return text


def ratios(runs: dict) -> dict[str, float]:
    """Every goal's ratio."""
    return {goal.text: round(goal.value, 3) for goal in goals(runs) if goal.value is not None}


def _text(runs: dict) -> str:
    machine = results.machine()
    lines = [
        "# Results", "",
        "Written by `Benchmarks/run report` from the runs of `make bench`; the raw numbers are in `results.json`.", "",
        f"Machine: {machine['processor']}, {machine['memory_gib']} GiB, {machine['system']}, Linux {machine['kernel']}, "
        f"{machine['swift']}; commit {machine['commit']}, {machine['date']}.", "",
        "CPU is user and system time of all server processes (Heliograph: gateway, services, Redis, PostgreSQL). Servers "
        "run on core 0, the load generator on core 1. Messages are 200 bytes. The limit is a C program that does nothing "
        "but one `send()` per member, or hands the sends of each message to io_uring. Medians of the runs.", "",
        "## Side by side", ""]
    if under := results.conditions(runs):
        lines[4:4] = ["Measured under: " + "; ".join(under) + ".", ""]
    servers = [name for name in ORDER if any(name in by for by in runs.values())]
    lines.append("| | " + " | ".join(TITLES.get(name, name) for name in servers) + " |")
    lines.append("| --- |" + " --- |" * len(servers))
    for key, field, form, title in TABLE:
        cells = [_cell(runs, key, name, field, form) for name in servers]
        if any(cells):
            lines.append(f"| {title} | " + " | ".join(cells) + " |")
    lines += [
        "", "`!`: messages were lost, out of order or refused. `~`: the rate was not held in the last, longer run.", "",
        "## Goals", "", "| goal | bound | measured | ratio | met |", "| --- | --- | --- | --- | --- |"]
    for goal in goals(runs):
        if goal.value is not None:
            met = "yes" if goal.value <= goal.bound else "**no**"
            lines.append(f"| {goal.text} | {goal.bound:g} | {goal.shown} | {goal.value:.2f} | {met} |")
    lines += ["", *_where_it_goes(runs), *_alone(runs)]
    if rows := micro.kept():
        lines += ["", "## Parts of the hot path", "", *micro.table(rows)]
    if rows := live.kept():
        lines += ["", "## What an idle connection keeps in a gateway", "", *live.table(rows)]
    return "\n".join(lines).rstrip() + "\n"


def _cell(runs: dict, key: str, server: str, field: str, form: str) -> str:
    value = results.median(runs, key, server, field)
    if value is None:
        return ""
    mark = "" if results.is_whole(runs, key, server) else " !"
    held = any(run.get("held") is False for run in runs[key][server])
    return form.format(value) + mark + (" ~" if held else "")


def _where_it_goes(runs: dict) -> list[str]:
    lines = ["## Where Heliograph's time goes", "", "| | seconds of CPU by process |", "| --- | --- |"]
    for key, by_server in runs.items():
        for run in by_server.get(OURS, [])[-1:]:
            used = run.get("cpu_by_process")
            if used and all(isinstance(value, float | int) for value in used.values()):
                shown = ", ".join(f"{name} {value:.2f}" for name, value in used.items() if value >= 0.01)
                lines.append(f"| {key} | {shown} |")
    return [*lines, ""]


def _alone(runs: dict) -> list[str]:
    lines = ["## Storm, latency, growth", "", "| | |", "| --- | --- |"]
    shown = {
        "storm kill": ("resume_seconds", "resume_p50_ms", "us_per_resume", "calm_p99_us", "p50_us", "p99_us", "errors"),
        "storm cut": ("resume_seconds", "resume_p50_ms", "us_per_resume", "calm_p99_us", "p50_us", "p99_us", "errors"),
        "crowd": ("users", "gateways", "cpu_ms_per_login", "kib_per_user", "idle_percent"),
        "latency": ("p50_us", "p99_us", "redis_p50_us", "redis_p99_us"),
        "gateways": ("us_per_delivery",), "joins": ("us_per_join_and_leave",),
        "memory": (
            "gateway_kib_per_member", "redis_kib_per_member", "gateway_kib_per_channel", "redis_kib_per_channel"),
        "scaling": ("capacity",),
        "durability": (
            "answer_p50_us_ratio", "answer_p99_us_ratio", "messages_per_second_ratio", "redis_us_ratio", "us_per_message_ratio"),
        "A1": (
            "singles_per_core", "batched_per_core", "batched_per_second", "websocket_us", "single_us", "batch_us", "batch_offline_us",
            "single_ratio", "batch_ratio"),
        "psql": ("slowest_view", "slowest_view_ms", "slowest_query_ms", "batch_ms", "batch_without_triggers_ms"),
    }
    large = {key: shown["storm kill"] for key in runs if key.startswith("storm kill ")}
    for key, fields in (shown | large).items():
        for run in runs.get(key, {}).get(OURS, [])[-1:]:
            lines.append(f"| {key} | " + ", ".join(f"{field} {run[field]}" for field in fields if field in run) + " |")
    return lines
