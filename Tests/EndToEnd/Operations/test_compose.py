"""The container files: valid, and consistent with the settings of the services."""

import os

import pytest
import yaml
from stack_control import BINARIES, ROOT, run_program

SERVICES = ("gateway", "presence", "channel-state", "invitation", "sip-bridge")


@pytest.fixture(scope="module")
def compose() -> dict:
    """The file as docker-compose understands it, with its defaults filled in."""
    done = run_program("docker-compose", "config")
    assert done.returncode == 0, done.stderr
    return yaml.safe_load(done.stdout)


def settings(service: str) -> dict[str, str]:
    """The settings of a service: their names and forms."""
    done = run_program(str(BINARIES / service), "--print-configuration")
    assert done.returncode == 0, done.stderr
    return {name: form for name, form, _, _ in (line.split("\t") for line in done.stdout.splitlines())}


def test_compose_file_is_valid():
    done = run_program("docker-compose", "config", "-q")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_haproxy_configuration_is_valid():
    done = run_program("haproxy", "-c", "-f", "Docker/haproxy.cfg", PATH=f"{os.environ['PATH']}:/usr/sbin")
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr


def test_everything_is_there(compose: dict):
    assert set(compose["services"]) == {"redis", "postgres", "migrate", "haproxy", *SERVICES}
    # A fixed name or a published port would prevent --scale.
    assert not {"container_name", "ports"} & set(compose["services"]["gateway"])


@pytest.mark.parametrize("service", SERVICES)
def test_environment_is_known_to_the_service(compose: dict, service: str):
    environment = compose["services"][service]["environment"]
    assert environment, "a service without settings"
    unknown = set(environment) - set(settings(service))
    assert not unknown, f"{service} ignores {sorted(unknown)}"


@pytest.mark.parametrize("service", SERVICES)
def test_environment_has_good_values(compose: dict, service: str):
    """The service itself checks its arguments: with one that it refuses, it does not start."""
    environment = compose["services"][service]["environment"]
    accepted = run_program(str(BINARIES / service), "--check-configuration", **environment)
    assert accepted.returncode == 0, accepted.stderr
    # Nothing is ignored either.
    assert accepted.stderr == ""


@pytest.mark.parametrize("service", SERVICES)
def test_environment_covers_what_differs_in_a_container(compose: dict, service: str):
    """The defaults suit one machine only; so every address and port that the service listens on or connects to is set."""
    places = {name for name in settings(service) if name.endswith(("_URL", "_HOST", "_PORT"))}
    assert places <= set(compose["services"][service]["environment"])


def test_a_bad_value_would_be_noticed():
    """The service that the tests above start does refuse bad settings, with one clear line."""
    refused = run_program(str(BINARIES / "presence"), HELIOGRAPH_REDIS_URL="x")
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert "HELIOGRAPH_REDIS_URL" in refused.stderr


def test_migration_is_called_as_the_program_wants_it(compose: dict):
    migrate = compose["services"]["migrate"]
    program, *arguments = migrate["command"]
    assert set(migrate["environment"]) == {"HELIOGRAPH_POSTGRES_URL"}
    # The same arguments and names, against a port where nothing answers: the service gets as far as connecting.
    nowhere = [("0" if argument == "60" else argument) for argument in arguments]
    done = run_program(str(BINARIES / program), *nowhere, HELIOGRAPH_POSTGRES_URL="postgresql://heliograph@127.0.0.1:1/heliograph")
    assert done.returncode != 0
    assert "Usage" not in done.stderr and "configuration" not in done.stderr.lower(), done.stderr


def test_image_holds_all_programs():
    text = (ROOT / "Dockerfile").read_text()
    listed = next(line for line in text.splitlines() if "for program in" in line)
    assert set(listed.split("for program in")[1].split(";")[0].split()) == {*SERVICES, "heliographctl"}
    assert "\nUSER heliograph\n" in text


def test_proxy_goes_to_the_ports_that_the_gateways_listen_on(compose: dict):
    environment = compose["services"]["gateway"]["environment"]
    proxy = (ROOT / "Docker" / "haproxy.cfg").read_text()
    port, admin = int(environment["HELIOGRAPH_GATEWAY_PORT"]), environment["HELIOGRAPH_HTTP_PORT"]
    assert f"gateway:{port} port {admin}" in proxy
    assert f"gateway:{port + 1} port {admin}" in proxy
    # Discovery tells clients the proxy's port, and that is the published one.
    public = int(environment["HELIOGRAPH_GATEWAY_PUBLIC_PORT"])
    published = {str(entry).split(":")[-1].split("/")[0] for entry in compose["services"]["haproxy"]["ports"]}
    assert {str(public), str(public + 1)} <= published
