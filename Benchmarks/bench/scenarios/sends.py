"""A1: messages by the server API, one at a time and in batches, beside those of clients over WebSocket."""

from pathlib import Path

from ..heliograph import Heliograph
from ..load import Load
from ..paths import BenchError
from ..processes import LOAD_CORE, SERVER_CORE, pin

SENDERS = 100
BATCH = 100
BATCH_SENDERS = 8
RECEIVERS = 100
# Messages to users who are offline stay: so few for each that no mailbox is an eighth full, from which on it counts by sender.
WAITING_RECEIVERS = 8000


class Everywhere(Heliograph):
    """On both cores, which the load generator shares: how fast it is, not what it costs."""

    def pin(self) -> None:
        pin(self.processes(), SERVER_CORE, LOAD_CORE)


def _run(server: Heliograph, name: str, seconds: float, *options: object) -> dict:
    # Users of its own: what the last ones have not acknowledged would be delivered again.
    with Load(server, "sends", "--push", "--prefix", name, *options) as load:
        load.ask("run 1", "run")
        run = load.ask(f"run {seconds}", "run")
    if run["refused"] or run["disorder"] or run["unanswered"] or run["disconnected"]:
        raise BenchError(f"messages were refused, out of order or not answered: {run}")
    if "--offline" not in options and run["delivered"] != run["accepted"]:
        raise BenchError(f"messages were lost: {run}")
    return {
        "us_per_message": round(run["cpu_seconds"] / run["accepted"] * 1e6, 2), "cpu_by_process": run["cpu_by_process"],
        "messages_per_second": round(run["accepted"] / run["seconds"]),
        "gateway_us": round(run["cpu_by_process"]["gateway"] / run["accepted"] * 1e6, 2),
        "redis_us": round(run["cpu_by_process"]["redis"] / run["accepted"] * 1e6, 2),
        "answer_p50_us": run["answer_p50_us"], "answer_p99_us": run["answer_p99_us"],
        "p50_us": run["p50_us"], "p99_us": run["p99_us"], "own_cpu": run["own_cpu"]}


def _api(server: Heliograph) -> list[object]:
    """How a load generator finds the API: as the second endpoint."""
    return ["--endpoint", server.api_port(), "--sender-driver", "api", "--publisher-endpoint", 1, "--key", server.api_key()]


def singles(checkout: Path, seconds: float = 5) -> dict:
    """A message in each request, sent by the gateway of a checkout."""
    with Heliograph(checkout=checkout) as server:
        return _run(server, "single", seconds, "--members", RECEIVERS, "--publishers", SENDERS, *_api(server))


def by_api_and_websocket(seconds: float) -> dict:
    """The same messages three ways on one cluster and core, then batches as fast as two cores take them."""
    online = ["--members", RECEIVERS]
    with Heliograph() as server:
        api = _api(server)
        websocket = _run(server, "websocket", seconds, *online, "--publishers", SENDERS)
        single = _run(server, "single", seconds, *online, "--publishers", SENDERS, *api)
        batch = _run(server, "batch", seconds, *online, "--publishers", BATCH_SENDERS, "--batch", BATCH, *api)
        waiting = _run(
            server, "waiting", seconds, "--members", WAITING_RECEIVERS, "--offline", "--publishers", BATCH_SENDERS, "--batch",
            BATCH, *api)
    with Everywhere() as server:
        fast = _run(
            server, "fast", seconds, "--members", WAITING_RECEIVERS, "--offline", "--publishers", BATCH_SENDERS, "--batch", BATCH,
            *_api(server))
    return {
        # One core serves: what a second of it takes.
        "singles_per_core": round(1e6 / single["us_per_message"]), "batched_per_core": round(1e6 / batch["us_per_message"]),
        "batched_per_second": fast["messages_per_second"],
        "single_ratio": round(single["us_per_message"] / websocket["us_per_message"], 2),
        "batch_ratio": round(batch["us_per_message"] / websocket["us_per_message"], 2),
        "websocket_us": websocket["us_per_message"], "single_us": single["us_per_message"], "batch_us": batch["us_per_message"],
        "batch_offline_us": waiting["us_per_message"],
        "websocket": websocket, "single": single, "batch": batch, "batch_offline": waiting, "batch_offline_two_cores": fast}
