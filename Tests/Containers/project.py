"""A stack that runs in containers: docker-compose.yml with overlays, as a compose project of its own."""

import contextlib
import json
import os
import re
import resource
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from certificates import make_certificate
from stack_control import ROOT, clean_environment

ENGINE = os.environ.get("HELIOGRAPH_ENGINE", "docker")
# An address of this machine that nothing else listens on, so that the ports of the files are free.
HOST = "127.83.0.1"
# Another one, for the port of the server API and the console, which must be at no other address.
API_HOST = "127.83.0.2"
COMMAND_SECONDS = 420
# The user of the image.
USER = 10001


class Failed(Exception):
    """A command of the engine failed."""


def run(*command: str, **variables: str) -> str:
    """Runs a command of the engine; its output."""
    done = subprocess.run(
        command, cwd=ROOT, env=clean_environment(**variables), capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: {done.stderr[-4000:]}{done.stdout[-2000:]}")
    return done.stdout


def compose_program() -> list[str]:
    """Compose 2, which is a part of Docker's command, or the program of version 1."""
    if ENGINE == "docker" and subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0:
        return ["docker", "compose"]
    return ["docker-compose"]


def has_image(name: str) -> bool:
    """Whether the engine has an image, or can fetch it."""
    return any(
        subprocess.run([ENGINE, *words, name], capture_output=True, check=False).returncode == 0 for words in (["image", "inspect"], ["pull", "-q"]))


def free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return str(found.getsockname()[1])


class Project:
    """Containers, networks and volumes of one name."""

    def __init__(self, *overlays: str, without: tuple[str, ...] = (), **settings: str):
        """
        :param without: services that are not started
        :param settings: variables of the files, besides those that every stack here has
        """
        self._without = without
        # Version 1 of compose takes Podman's network with addresses of its own for a changed one, and starts nothing more in it.
        self._is_closed = ENGINE == "podman" and "redis-cluster" in overlays
        self.name = f"heliograph{uuid.uuid4().hex[:8]}"
        self.folder = Path(tempfile.mkdtemp(prefix="heliograph-containers-"))
        self.files = ["docker-compose.yml", *(f"docker-compose.{overlay}.yml" for overlay in overlays)]
        run("Docker/make-secrets", str(self.folder / "secrets"))
        tls = self.folder / "tls"
        tls.mkdir()
        make_certificate(tls, f"IP:{HOST}")
        for path in (tls, *tls.iterdir()):
            os.chmod(path, 0o755 if path.is_dir() else 0o644)
        self.certificate = tls / "certificate.pem"
        files = min(262_144, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        if ENGINE == "podman":
            self._bound_processes()
        self._variables = {
            "COMPOSE_PROJECT_NAME": self.name, "COMPOSE_HTTP_TIMEOUT": "300", "HELIOGRAPH_PUBLIC_HOST": HOST,
            "HELIOGRAPH_PUBLIC_BIND": HOST, "HELIOGRAPH_API_BIND": API_HOST, "HELIOGRAPH_SECRETS": str(self.folder / "secrets"), "HELIOGRAPH_TLS": str(tls),
            "HELIOGRAPH_OPEN_FILES": str(files), "HELIOGRAPH_PROXY_CONNECTIONS": str(min(100_000, files // 2 - 500)),
            "HELIOGRAPH_PROMETHEUS_PORT": free_port(), "HELIOGRAPH_GRAFANA_PORT": free_port(), **settings}
        self._over = threading.Event()
        self._checks: threading.Thread | None = None

    def _bound_processes(self) -> None:
        """Where files are bounded, Podman bounds processes too, at a number that not every machine allows: here at what a container has."""
        limits = run(ENGINE, "run", "--rm", "--ulimit", "host", "--entrypoint", "cat", "debian:bookworm-slim", "/proc/self/limits")
        bound = re.search(r"^Max processes +\S+ +(\S+)", limits, re.MULTILINE)[1]
        if bound == "unlimited":
            return
        services = {name: {"ulimits": {"nproc": int(bound)}} for name in ("gateway", "haproxy")}
        (self.folder / "limits.yml").write_text(json.dumps({"services": services}))
        self.files.append(str(self.folder / "limits.yml"))

    def compose(self, *words: str) -> str:
        files = [word for name in self.files for word in ("-f", name)]
        return run(*compose_program(), *files, *words, **self._variables)

    def up(self, *words: str) -> float:
        """Starts what does not run, with three gateways. Returns the seconds until all containers are healthy."""
        started = time.monotonic()
        if ENGINE == "podman" and not Path("/run/systemd/system").is_dir() and self._checks is None:
            self._checks = threading.Thread(target=self._check_health)
            self._checks.start()
        # All by their names, because version 1 of compose wants the images of services that are scaled to 0 too.
        named = [name for name in self.compose("config", "--services").split() if name not in self._without] if self._without else []
        self.compose("up", "-d", "--no-build", "--scale", "gateway=3", *words, *named)
        return time.monotonic() - started

    def down(self, *words: str) -> None:
        self.compose("down", "--timeout", "45", *words)

    def remove(self) -> None:
        """Takes everything down, data included."""
        try:
            self.down("--volumes", "--remove-orphans")
        finally:
            self._over.set()
            if self._checks is not None:
                self._checks.join()
            shutil.rmtree(self.folder)

    def ids(self, service: str) -> list[str]:
        """The running containers of a service, sorted."""
        return sorted(self.compose("ps", "-q", service).split())

    def _containers(self) -> list[str]:
        return run(ENGINE, "ps", "-q", "--no-trunc", "--filter", f"label=com.docker.compose.project={self.name}").split()

    def inspect(self, container: str) -> dict:
        return json.loads(run(ENGINE, "inspect", container))[0]

    def address(self, container: str) -> str:
        networks = self.inspect(container)["NetworkSettings"]["Networks"]
        return next(network["IPAddress"] for network in networks.values())

    def host_address(self, container: str) -> str:
        """Where the containers of a container's network reach this machine."""
        networks = self.inspect(container)["NetworkSettings"]["Networks"]
        return next(network["Gateway"] for network in networks.values())

    def secret(self, name: str) -> str:
        return (self.folder / "secrets" / name).read_text()

    def health(self, container: str) -> str:
        return self.inspect(container)["State"].get("Health", {}).get("Status", "")

    def execute(self, container: str, *command: str) -> str:
        return run(ENGINE, "exec", container, *command)

    def logs(self, container: str) -> str:
        done = subprocess.run([ENGINE, "logs", container], capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    def control(self, *words: str) -> str:
        """Runs heliographctl, in a container of its own where that is possible."""
        if self._is_closed:
            return self.execute(self.ids("presence")[0], "heliographctl", *words)
        return self.compose("run", "--rm", "migrate", "heliographctl", *words)

    def _check_health(self) -> None:
        """Does what systemd does for Podman: the health checks, often until they succeed, then now and then."""
        well: dict[str, float] = {}
        while not self._over.wait(1):
            for container in self._containers():
                if well.get(container, 0) > time.monotonic():
                    continue
                done = subprocess.run([ENGINE, "healthcheck", "run", container], capture_output=True, check=False)
                well[container] = time.monotonic() + (15 if done.returncode == 0 else 0)


@contextlib.contextmanager
def running(*overlays: str, without: tuple[str, ...] = (), **settings: str) -> Iterator[Project]:
    """A stack for the time of a fixture or a test, and nothing of it afterwards."""
    project = Project(*overlays, without=without, **settings)
    try:
        project.up()
        yield project
    finally:
        project.remove()
