"""The stack in containers with each overlay: it comes up and serves. Run by Scripts/test-containers."""

import asyncio
import base64
import json
import os
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from monitoring import DASHBOARDS, queries, rules
from project import ENGINE, Failed, Project, has_image, run, running
from seccomp import IO_URING_SETUP
from users import login, start, talk
from waiting import eventually, eventually_blocking
from web import fetch, metric

GRAFANA = "grafana/grafana:11.3.0"
JOBS = {"gateway": 3, "presence": 1, "channel-state": 1, "invitation": 1, "sip-bridge": 1, "webhooks": 1}
# Prometheus scrapes and evaluates every 15 s.
ROUNDS_SECONDS = 90
# The engine's own seccomp profile, where Podman's package has it.
ENGINES_PROFILE = os.environ.get("HELIOGRAPH_ENGINE_SECCOMP") or "/usr/share/containers/seccomp.json"
# Asks the kernel for a ring with the flags of a gateway's (Shared/CRing), and prints why there is none.
ASK_FOR_RING = f'my $p = pack("L3x108", 0, 0, 1 << 12 | 1 << 13); print syscall({IO_URING_SETUP}, 8, $p) < 0 ? "$!" : "";'
# So many that each of three gateways sends an event of a channel by its ring.
MEMBERS = 30


@pytest.mark.parametrize("overlay", ["standby", "redis-cluster"])
async def test_overlays_serve(overlay: str):
    with running(overlay) as other:
        await asyncio.to_thread(start, other)
        first, second = await login("first"), await login("second")
        await talk(first, second)
        if overlay == "standby":
            standby = other.ids("postgres-standby")[0]
            query = ("psql", "-h", "127.0.0.1", "-U", "heliograph", "-d", "heliograph", "-Atc")
            assert other.execute(standby, *query, "SELECT pg_is_in_recovery()").strip() == "t"

            def has_app() -> bool:
                try:
                    return other.execute(standby, *query, "SELECT count(*) FROM apps").strip() == "1"
                except Failed:
                    # Its copy may be older than the schema.
                    return False
            await eventually(lambda: asyncio.to_thread(has_app), "the standby has the app", 60)
        else:
            nodes = other.execute(
                other.ids("redis")[0], "sh", "-c", "REDISCLI_AUTH=$(cat /run/secrets/redis-password) redis-cli cluster nodes")
            assert nodes.count("master") == nodes.count("slave") == 3
        await first.close()
        await second.close()


@pytest.fixture(scope="module")
def ring_profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The profile that docker-compose.io-uring.yml gives to gateways, made as Docs/operations.md says."""
    profile = tmp_path_factory.mktemp("seccomp") / "seccomp.json"
    run("Docker/allow-io-uring", ENGINES_PROFILE, str(profile))
    return profile


def ring_refusal(profile: Path | str) -> str:
    """Why a container with this profile, and with no more rights than a gateway's, gets no ring; empty where it gets one."""
    return run(ENGINE, "run", "--rm", "--cap-drop=ALL", f"--security-opt=seccomp={profile}", "heliograph", "perl", "-e", ASK_FOR_RING)


def test_the_profile_refuses_no_ring_that_the_kernel_allows(ring_profile: Path):
    assert ring_refusal(ring_profile) == ring_refusal("unconfined")


async def test_gateways_send_by_io_uring(ring_profile: Path):
    """Where the kernel allows it; else each says so once, and works without it."""
    refusal = await asyncio.to_thread(ring_refusal, "unconfined")
    print(f"\nio_uring in containers: {refusal or 'allowed'}")
    # Compose sends what the file contains, which Podman's service takes for the file's name: there the gateways have no profile.
    allowed = str(ring_profile) if ENGINE == "docker" else "unconfined"
    with running("io-uring", HELIOGRAPH_SECCOMP=allowed) as project:
        await asyncio.to_thread(start, project)
        members = [await login(f"member{number}") for number in range(MEMBERS)]
        for member in members:
            await member.join("ring")
        await members[0].say("ring", "to everybody")
        for member in members:
            await eventually(lambda m=member: "to everybody" in str(m.events), f"{member.account} has the event")
        await talk(members[0], members[-1])
        for container in project.ids("gateway"):
            rings = metric(f"http://{project.address(container)}:9090", "heliograph_gateway_rings")
            told = [line for line in project.logs(container).splitlines() if "no io_uring" in line]
            assert (rings > 0, len(told)) == ((False, 1) if refusal else (True, 0)), told
            assert all(refusal in line for line in told), refusal
        for member in members:
            await member.close()


def get(base: str, path: str, password: str | None = None, **arguments: str) -> object:
    """The JSON that a server answers, for Grafana's user `admin` if there is a password."""
    request = urllib.request.Request(f"{base}{path}?{urllib.parse.urlencode(arguments)}")
    if password is not None:
        request.add_header("Authorization", "Basic " + base64.b64encode(f"admin:{password}".encode()).decode())
    with fetch(request) as answer:
        return json.load(answer)


async def test_monitoring_shows_all_processes():
    has_grafana = has_image(GRAFANA)
    with running("monitoring", without=() if has_grafana else ("grafana",)) as project:
        await asyncio.to_thread(start, project)
        first, second = await login("first"), await login("second")
        await talk(first, second)
        await first.join("room")
        await first.say("room", "for the dashboards")
        await asyncio.to_thread(look, project)
        if has_grafana:
            await asyncio.to_thread(look_at_grafana, project)
        else:
            print(f"\n{GRAFANA} can't be had here: Grafana was not run")
        await first.close()
        await second.close()


def look(project: Project) -> None:
    """Prometheus scrapes every process, evaluates every rule and answers the dashboards."""
    base = f"http://{project.address(project.ids('prometheus')[0])}:9090/api/v1"

    def up() -> dict[str, int]:
        targets = get(base, "/targets", state="active")["data"]["activeTargets"]
        return {job: sum(t["health"] == "up" for t in targets if t["labels"]["job"] == job) for job in JOBS}
    eventually_blocking(lambda: up() == JOBS, "every process is scraped", ROUNDS_SECONDS)

    def states() -> list[str]:
        found = [rule for group in get(base, "/rules")["data"]["groups"] for rule in group["rules"]]
        assert not [rule for rule in found if rule["health"] == "err" or rule["state"] == "firing"]
        return [rule["health"] for rule in found]
    eventually_blocking(lambda: states() == ["ok"] * len(rules()), "every rule is evaluated", ROUNDS_SECONDS)

    # A query that Prometheus refuses is an error. Rates take two scrapes.
    asked = [query.replace("$__rate_interval", "1m") for path in DASHBOARDS for query in queries(path)]

    def unanswered() -> list[str]:
        return [query for query in asked if not get(base, "/query", query=query)["data"]["result"]]
    # No overlay has a media node yet.
    media = [query for query in asked if "heliograph_media_" in query]
    eventually_blocking(lambda: unanswered() == media, "every query of the dashboards has an answer, but those about media", ROUNDS_SECONDS)
    print(f"\n{len(JOBS)} jobs, {len(rules())} rules, {len(asked) - len(media)} of {len(asked)} queries of dashboards answered")


def look_at_grafana(project: Project) -> None:
    """Grafana has loaded the dashboards, and reaches Prometheus."""
    base, password = f"http://{project.address(project.ids('grafana')[0])}:3000/api", project.secret("grafana-password")
    titles = {json.loads(path.read_text(encoding="utf-8"))["title"] for path in DASHBOARDS}

    def loaded() -> bool:
        try:
            return {found["title"] for found in get(base, "/search", password, type="dash-db")} == titles
        except OSError:
            return False
    eventually_blocking(loaded, "Grafana shows the dashboards", ROUNDS_SECONDS)
    sources = get(base, "/datasources", password)
    health = get(base, f"/datasources/uid/{sources[0]['uid']}/health", password)
    assert health["status"] == "OK", health
