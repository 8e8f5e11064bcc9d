"""HTTP requests of the tests. They ignore the proxies of the environment: everything that is asked runs on this machine."""

import http.client
import json
import urllib.parse
import urllib.request

ANSWER_SECONDS = 10
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def fetch(request: str | urllib.request.Request, seconds: float = ANSWER_SECONDS) -> http.client.HTTPResponse:
    """The answer, to be used in a `with` block; raises `urllib.error.HTTPError` for a status of 400 or more."""
    return _opener.open(request, timeout=seconds)


def discover(base: str, **query: str) -> dict:
    """Asks the gateway at `base` for gateways, as clients do; the JSON of its answer."""
    with fetch(f"{base}/getaddr?{urllib.parse.urlencode(query)}") as answer:
        # Pages of any origin may ask.
        assert answer.status == 200 and answer.headers["Access-Control-Allow-Origin"] == "*"
        return json.load(answer)


def metrics(base: str) -> dict[str, float]:
    """All metrics of a process: name with labels -> value."""
    with fetch(f"{base}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if not line.startswith("#"))}


def grown(before: dict[str, float], after: dict[str, float], *parts: str) -> float:
    """By how much the metrics with all these parts in their names with labels grew."""
    return sum(value - before.get(name, 0) for name, value in after.items() if all(part in name for part in parts))


def metric(base: str, name: str) -> float:
    """One metric of a process, summed over its labels; 0 when the process does not have it yet."""
    return sum(value for full_name, value in metrics(base).items() if full_name.partition("{")[0] == name)
