"""The container files: valid, and consistent with the settings of the services."""

import functools
import json
import os
import re
import shlex
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from stack_control import BINARIES, ROOT, Stack, run_program

SERVICES = ("gateway", "presence", "channel-state", "invitation", "sip-bridge", "webhooks")
OVERLAYS = ("standby", "redis-cluster", "tls", "monitoring")
# Where Compose mounts secrets.
SECRETS = "/run/secrets/"


def compose_command(*overlays: str) -> list[str]:
    """The program with the files of these overlays, each of which changes the one before."""
    names = ["docker-compose.yml", *(f"docker-compose.{overlay}.yml" for overlay in overlays)]
    return ["docker-compose", *(word for name in names for word in ("-f", name)), "config"]


@functools.cache
def understood(*overlays: str, profiles: tuple[str, ...] = ()) -> dict:
    """The files as docker-compose understands them, with their defaults filled in, and with the services of these profiles."""
    done = run_program(*compose_command(*overlays), COMPOSE_PROFILES=",".join(profiles))
    assert done.returncode == 0, done.stderr
    return yaml.safe_load(done.stdout)


@pytest.fixture(scope="module")
def compose() -> dict:
    return understood()


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The passwords that Docker/make-secrets makes."""
    folder = tmp_path_factory.mktemp("secrets") / "made"
    done = run_program("Docker/make-secrets", str(folder))
    assert done.returncode == 0, done.stderr
    return folder


def accepted(service: str, environment: dict[str, str], secrets: Path) -> None:
    """The service itself checks its settings: with one that it refuses, it does not start; of one that it ignores, it tells."""
    here = {name: value.replace(SECRETS, f"{secrets}/") for name, value in environment.items()}
    done = run_program(str(BINARIES / service), "--check-configuration", **here)
    assert (done.returncode, done.stderr) == (0, "")


def settings(service: str) -> dict[str, str]:
    """The settings of a service: their names and forms."""
    done = run_program(str(BINARIES / service), "--print-configuration")
    assert done.returncode == 0, done.stderr
    return {name: form for name, form, _, _ in (line.split("\t") for line in done.stdout.splitlines())}


@pytest.mark.parametrize("overlays", [(), *((overlay,) for overlay in OVERLAYS), OVERLAYS], ids="+".join)
def test_compose_files_are_valid(overlays: tuple[str, ...]):
    done = run_program(*compose_command(*overlays), "-q")
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
def test_environment_has_good_values(compose: dict, service: str, secrets: Path):
    accepted(service, compose["services"][service]["environment"], secrets)


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


def test_migration_is_called_as_the_program_wants_it(compose: dict, secrets: Path):
    migrate = compose["services"]["migrate"]
    program, *arguments = migrate["command"]
    stores = {name for name in compose["services"]["presence"]["environment"] if "_REDIS_" in name or "_POSTGRES_" in name}
    assert set(migrate["environment"]) == stores
    assert f"{ROOT}/Docker/{program}:/usr/local/bin/{program}:ro" in migrate["volumes"]
    # The same arguments and names, against a port where nothing answers: the program gets as far as connecting.
    script = (ROOT / "Docker" / program).read_text()
    words, = (line.split() for line in script.splitlines() if line.startswith("heliographctl migrate"))
    nowhere = [("0" if word == "60" else word) for word in words[1:]]
    done = run_program(
        str(BINARIES / words[0]), *nowhere, HELIOGRAPH_POSTGRES_URL="postgresql://heliograph@127.0.0.1:1/heliograph",
        HELIOGRAPH_POSTGRES_PASSWORD_FILE=str(secrets / "postgres-password"))
    assert done.returncode != 0
    assert "Usage" not in done.stderr and "configuration" not in done.stderr.lower(), done.stderr
    # Nobody is told how to begin with a database that was not migrated.
    failed = migration(arguments, "postgresql://heliograph@127.0.0.1:1/heliograph", script.replace("--wait 60", "--wait 0"))
    assert failed.returncode != 0 and failed.stdout == ""


def migration(arguments: list[str], postgres: str, script: str = "") -> subprocess.CompletedProcess:
    """Runs the script of the service `migrate`, or this one in its place."""
    script = script or (ROOT / "Docker" / "migrate.sh").read_text()
    return run_program(
        "sh", "-c", script, "migrate.sh", *arguments, PATH=f"{BINARIES}:{os.environ['PATH']}", HELIOGRAPH_POSTGRES_URL=postgres)


def test_the_first_start_says_how_to_begin(make_stack: Callable[..., Stack]):
    stack = make_stack(gateways=1)
    url = stack.endpoints["postgres"]["url"]
    places: tuple[tuple[dict[str, str], str], ...] = (
        ({"HELIOGRAPH_API_BIND": "10.1.2.3"}, "http://10.1.2.3:8090/console/"),
        ({"HELIOGRAPH_API_BIND": "0.0.0.0", "HELIOGRAPH_API_PORT": "8190"}, "http://127.0.0.1:8190/console/"),
        ({}, "http://127.0.0.1:8090/console/"))
    for place, console in places:
        _, *arguments = yaml.safe_load(run_program(*compose_command(), **place).stdout)["services"]["migrate"]["command"]
        told = migration(arguments, url)
        assert told.returncode == 0, told.stderr
        assert console in told.stdout
    # What it says is what makes an app and a key.
    commands = [shlex.split(line) for line in told.stdout.splitlines() if line.strip().startswith("docker compose run --rm migrate ")]
    assert len(commands) == 2
    made = [stack.control(*command[6:]) for command in commands if command[5] == "heliographctl"]
    assert len(made) == 2 and " key hk_" in made[1], made
    # Those who have a key know.
    again = migration(arguments, url)
    assert again.returncode == 0 and "console" not in again.stdout


def test_passwords_are_made_once_and_for_their_owner_only(secrets: Path):
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o700
    made = {path.name: path.read_text() for path in secrets.iterdir()}
    assert set(made) == set(understood(*OVERLAYS)["secrets"]) and len(set(made.values())) == len(made) == 3
    assert all(len(text) == 48 for text in made.values())
    assert run_program("Docker/make-secrets", str(secrets)).stdout == ""
    assert {path.name: path.read_text() for path in secrets.iterdir()} == made


@pytest.mark.parametrize("overlays", [(), *((overlay,) for overlay in OVERLAYS)], ids="+".join)
def test_secrets_are_given_as_files_to_those_who_need_them(overlays: tuple[str, ...]):
    found = understood(*overlays, profiles=("follow",))
    assert {Path(secret["file"]).name for secret in found["secrets"].values()} == set(found["secrets"])
    assert all(Path(secret["file"]).parent == ROOT / "Docker" / "secrets" for secret in found["secrets"].values())
    for name, service in found["services"].items():
        given = {secret["source"] for secret in service.get("secrets", [])}
        used = {word for word in given if SECRETS + word in str(service)}
        named = {value.removeprefix(SECRETS) for value in service.get("environment", {}).values() if value.startswith(SECRETS)}
        assert named <= given <= set(found["secrets"]), name
        # The other files of the stores read theirs in a script.
        assert given == used or name.startswith(("redis", "postgres")), name
        assert not {variable for variable in service.get("environment", {}) if variable.endswith("PASSWORD")}, name


@pytest.mark.parametrize("overlays", [(), *((overlay,) for overlay in OVERLAYS)], ids="+".join)
def test_containers_have_no_more_rights_than_they_need(overlays: tuple[str, ...]):
    for name, service in understood(*overlays, profiles=("follow",))["services"].items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"] and "cap_add" not in service and "privileged" not in service, name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["mem_limit"] and service["pids_limit"], name
        # The image's own user is not root; the others' may be.
        assert service["image"] == "heliograph" or service["user"] in ("redis", "postgres", "haproxy", "nobody", "grafana"), name


def accepted_by_all_services(found: dict, secrets: Path) -> None:
    """Each service accepts its environment, which has the same settings as without an overlay."""
    for service in SERVICES:
        environment = found["services"][service]["environment"]
        assert environment.keys() == understood()["services"][service]["environment"].keys()
        accepted(service, environment, secrets)


def test_with_a_standby_every_process_knows_both_servers(secrets: Path):
    found = understood("standby")
    started = {name for name, service in found["services"].items() if not service.get("profiles")}
    assert started == {"redis", "postgres", "postgres-standby", "migrate", "haproxy", *SERVICES}
    accepted_by_all_services(found, secrets)
    urls = {found["services"][name]["environment"]["HELIOGRAPH_POSTGRES_URL"] for name in ("migrate", *SERVICES)}
    url, = urls
    assert "@postgres:5432,postgres-standby:5432/" in url
    # One that has failed must not come back by itself, and neither of them beside another primary.
    assert found["services"]["postgres"]["restart"] == "no"
    servers = ("postgres", "postgres-standby")
    for server, other in zip(servers, reversed(servers), strict=True):
        assert found["services"][server]["entrypoint"][:2] == ["/usr/local/bin/postgres-guard.sh", other]
    mounted = {
        Path(volume.split(":")[0]) for name in servers for volume in found["services"][name]["volumes"] if volume.startswith("/")}
    scripts = {ROOT / "Docker" / name for name in ("postgres-guard.sh", "postgres-standby.sh")}
    assert mounted == {ROOT / "Docker" / "pg_hba.conf", *scripts}
    assert all(os.access(script, os.X_OK) for script in scripts)


@pytest.mark.parametrize("server, other", [("postgres", "postgres-standby"), ("postgres-standby", "postgres")])
def test_an_old_primary_can_follow_the_new_one(server: str, other: str):
    services = understood("standby", profiles=("follow",))["services"]
    follow = services[f"{server}-follow"]
    assert follow["entrypoint"] == ["/usr/local/bin/postgres-follow.sh", server, other]
    assert f"{ROOT}/Docker/postgres-follow.sh:/usr/local/bin/postgres-follow.sh:ro" in follow["volumes"]
    # It works on the data of the server that it names.
    data = [volume for volume in services[server]["volumes"] if volume.endswith(":/var/lib/postgresql/data:rw")]
    assert data and data[0] in follow["volumes"]
    standard = "/var/lib/postgresql/data"
    assert follow["environment"]["PGDATA"] == services[server]["environment"].get("PGDATA", standard)


def test_every_server_of_the_redis_cluster_is_joined_to_it():
    services = understood("redis-cluster")["services"]
    servers = ["redis", *(f"redis-{number}" for number in range(2, 7))]
    assert set(services) == {*servers, "redis-cluster", "postgres", "migrate", "haproxy", *SERVICES}
    addresses = [services[server]["networks"]["default"]["ipv4_address"] for server in servers]
    joining = services["redis-cluster"]["command"][-1]
    assert [word.removesuffix(":6379") for word in joining.split() if word.endswith(":6379")] == addresses
    assert set(services["redis-cluster"]["depends_on"]) == set(servers)
    commands = {tuple(services[server]["command"]) for server in servers}
    command, = commands
    options = dict(zip(command[::2], command[1::2], strict=True))
    assert options["--cluster-require-full-coverage"] == "no" and options["--cluster-allow-pubsubshard-when-down"] == "yes"
    volumes = [volume for server in servers for volume in services[server]["volumes"] if ":/data:" in volume]
    assert len(set(volumes)) == len(servers)


def test_with_a_redis_cluster_every_process_knows_all_servers(secrets: Path):
    found = understood("redis-cluster")
    accepted_by_all_services(found, secrets)
    servers = [name for name, service in found["services"].items() if service.get("entrypoint") == ["/usr/local/bin/redis.sh"]]
    urls = {found["services"][name]["environment"]["HELIOGRAPH_REDIS_URL"] for name in SERVICES}
    assert urls == {"redis+cluster://" + ",".join(f"{server}:6379" for server in sorted(servers))}
    both = understood(*OVERLAYS)["services"]["presence"]["environment"]
    assert both["HELIOGRAPH_REDIS_URL"] in urls and "postgres-standby" in both["HELIOGRAPH_POSTGRES_URL"]


def test_image_holds_all_programs():
    text = (ROOT / "Dockerfile").read_text()
    listed = next(line for line in text.splitlines() if "for program in" in line)
    assert set(listed.split("for program in")[1].split(";")[0].split()) == {*SERVICES, "media", "heliographctl"}
    assert "\nUSER heliograph\n" in text


def test_the_image_builder_gets_the_sources_of_every_target():
    """Swift builds nothing when the folder of any target is missing."""
    sent = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    described = subprocess.run(["swift", "package", "dump-package"], cwd=ROOT, capture_output=True, check=True, timeout=120)
    folders = [target["path"] for target in json.loads(described.stdout)["targets"]]
    assert len(folders) > 50
    assert [folder for folder in folders if not any(f"{folder}/".startswith(f"{part}/") for part in sent)] == []


def test_proxy_goes_to_the_ports_that_the_gateways_listen_on(compose: dict):
    environment = compose["services"]["gateway"]["environment"]
    proxy = (ROOT / "Docker" / "haproxy.cfg").read_text()
    port, admin = int(environment["HELIOGRAPH_GATEWAY_PORT"]), environment["HELIOGRAPH_HTTP_PORT"]
    assert f"gateway:{port} port {admin}" in proxy
    assert f"gateway:{port + 1} port {admin}" in proxy
    # Discovery tells clients the proxy's port, and that is the published one.
    public = int(environment["HELIOGRAPH_GATEWAY_PUBLIC_PORT"])
    published = {str(entry).split(":")[-1].split("/")[0] for entry in compose["services"]["haproxy"]["ports"]}
    api = int(environment["HELIOGRAPH_GATEWAY_API_PORT"])
    # Where the gateways do not take the PROXY protocol, HAProxy must not send it.
    assert f"gateway:{api} port {admin} no-send-proxy-v2" in proxy
    assert {str(public), str(public + 1), str(api)} == published


@pytest.mark.parametrize("overlays", [(), *((overlay,) for overlay in OVERLAYS), OVERLAYS], ids="+".join)
def test_only_this_machine_reaches_the_api_and_the_console(overlays: tuple[str, ...]):
    """Whatever clients' ports are bound to."""
    done = run_program(*compose_command(*overlays), HELIOGRAPH_PUBLIC_BIND="0.0.0.0")
    assert done.returncode == 0, done.stderr
    published = [str(port) for service in yaml.safe_load(done.stdout)["services"].values() for port in service.get("ports", [])]
    media = [str(port) for port in range(16384, 16584)]
    assert {port.split(":")[1] for port in published if port.startswith("0.0.0.0:")} == {"8080", "8081", "5060", "5061", *media}
    others = [port for port in published if not port.startswith("0.0.0.0:")]
    assert "127.0.0.1:8090:8090/tcp" in others and all(port.startswith("127.0.0.1:") for port in others)


def test_the_api_is_published_elsewhere_by_a_setting_of_its_own():
    done = run_program(*compose_command(), HELIOGRAPH_API_BIND="10.1.2.3", HELIOGRAPH_API_PORT="8190")
    published = yaml.safe_load(done.stdout)["services"]["haproxy"]["ports"]
    assert sorted(str(port) for port in published) == ["10.1.2.3:8190:8090/tcp", "127.0.0.1:8080:8080/tcp", "127.0.0.1:8081:8081/tcp"]


@pytest.mark.parametrize("bound, good", [({}, True), ({"HELIOGRAPH_PROXY_CONNECTIONS": "5000"}, True), (
    {"HELIOGRAPH_PROXY_CONNECTIONS": ""}, False)], ids=["default", "set", "empty"])
def test_haproxy_takes_its_bound_from_the_environment(compose: dict, bound: dict[str, str], good: bool):
    assert compose["services"]["haproxy"]["environment"] == {"HELIOGRAPH_PROXY_CONNECTIONS": "100000"}
    done = run_program("haproxy", "-c", "-f", "Docker/haproxy.cfg", PATH=f"{os.environ['PATH']}:/usr/sbin", **bound)
    assert (done.returncode == 0) is good, done.stderr


def test_open_files_suffice_for_all_connections(compose: dict):
    files = {name: compose["services"][name]["ulimits"]["nofile"] for name in ("haproxy", "gateway")}
    assert files["haproxy"] == files["gateway"] and files["haproxy"]["soft"] == files["haproxy"]["hard"]
    # HAProxy has two for each connection, and some of its own.
    assert files["haproxy"]["hard"] > 2 * int(compose["services"]["haproxy"]["environment"]["HELIOGRAPH_PROXY_CONNECTIONS"]) + 100


def test_the_tls_overlay_mounts_what_the_gateways_read():
    gateway = understood("tls")["services"]["gateway"]
    mounted, = (volume.split(":")[1] for volume in gateway["volumes"])
    named = [gateway["environment"][f"HELIOGRAPH_GATEWAY_TLS_{part}"] for part in ("CERTIFICATE", "KEY")]
    assert [str(Path(path).parent) for path in named] == [mounted] * 2
    assert set(gateway["environment"]) <= set(settings("gateway"))


def mounts(service: dict) -> dict[str, Path]:
    """The files and folders of this machine that a service sees, by its own paths."""
    found = [volume.split(":") for volume in service["volumes"] if volume.startswith("/")]
    assert all(words[2:] == ["ro"] for words in found)
    return {words[1]: Path(words[0]) for words in found}


def test_monitoring_is_reached_from_this_machine_only():
    services = understood("monitoring")["services"]
    for name in set(services) - set(understood()["services"]):
        published = services[name]["ports"]
        assert published and all(str(port).startswith("127.0.0.1:") for port in published), name
        # An image of a moving name would be another one tomorrow.
        assert re.fullmatch(r"\S+:v?\d+\.\d+\.\d+", services[name]["image"]), name


def test_prometheus_and_grafana_get_what_the_documents_have():
    services = understood("monitoring")["services"]
    prometheus, grafana = mounts(services["prometheus"]), mounts(services["grafana"])
    configuration = prometheus["/etc/prometheus/prometheus.yml"]
    assert "--config.file=/etc/prometheus/prometheus.yml" in services["prometheus"]["command"]
    wanted = yaml.safe_load(configuration.read_text())
    assert {f"/etc/prometheus/{name}" for name in wanted["rule_files"]} <= set(prometheus)
    # Each job asks the port at which the service of its name answers. Media nodes have no container: their job finds none here.
    jobs = {job["job_name"]: job for job in wanted["scrape_configs"]}
    assert set(jobs) - set(services) == {"media"}
    for name, job in jobs.items():
        place, = job["dns_sd_configs"]
        port = services.get(name, services["gateway"])["environment"]["HELIOGRAPH_HTTP_PORT"]
        assert (place["names"], str(place["port"])) == ([name], port)
    providers = yaml.safe_load(grafana["/etc/grafana/provisioning/dashboards/heliograph.yml"].read_text())["providers"]
    assert [len(list(grafana[one["options"]["path"]].glob("*.json"))) for one in providers] == [2]
    source, = yaml.safe_load(grafana["/etc/grafana/provisioning/datasources/heliograph.yml"].read_text())["datasources"]
    assert source["url"] == "http://prometheus:9090" and source["isDefault"]
    assert all(path.exists() for path in (*prometheus.values(), *grafana.values()))


def allow_io_uring(profile: Path, result: Path) -> tuple[int, str]:
    done = run_program("Docker/allow-io-uring", str(profile), str(result))
    return done.returncode, done.stderr


def test_io_uring_is_allowed_by_the_engines_profile_with_three_calls_more(tmp_path: Path):
    engines, ours = tmp_path / "default.json", tmp_path / "seccomp.json"
    refused = {"names": ["io_uring_setup", "bpf"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38}
    others = {
        "defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 1, "archMap": [{"architecture": "SCMP_ARCH_X86_64"}],
        "syscalls": [{"names": ["read"], "action": "SCMP_ACT_ALLOW", "includes": {"caps": ["CAP_X"]}}]}
    engines.write_text(json.dumps(others | {"syscalls": [*others["syscalls"], refused]}))
    assert allow_io_uring(engines, ours) == (0, "")
    calls = {"names": ["io_uring_setup", "io_uring_enter", "io_uring_register"], "action": "SCMP_ACT_ALLOW"}
    assert json.loads(ours.read_text()) == others | {"syscalls": [*others["syscalls"], refused | {"names": ["bpf"]}, calls]}
    # Its own result stays as it is.
    again = tmp_path / "again.json"
    assert allow_io_uring(ours, again) == (0, "")
    assert json.loads(again.read_text()) == json.loads(ours.read_text())
    found = yaml.safe_load(run_program(*compose_command("io-uring"), HELIOGRAPH_SECCOMP=str(ours)).stdout)["services"]
    for name, service in found.items():
        profiles = [option for option in service["security_opt"] if option.startswith("seccomp:")]
        assert "no-new-privileges:true" in service["security_opt"] and len(profiles) == (name == "gateway"), name


@pytest.mark.parametrize("text, problem", [
    ("{", "no seccomp profile"), ("[]", "no seccomp profile"), ('{"defaultAction": "SCMP_ACT_ERRNO"}', "no seccomp profile"),
    ('{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": []}', "allows all"), (None, "No such file")])
def test_what_is_no_profile_of_an_engine_is_refused(tmp_path: Path, text: str | None, problem: str):
    profile, result = tmp_path / "default.json", tmp_path / "seccomp.json"
    if text is not None:
        profile.write_text(text)
    code, error = allow_io_uring(profile, result)
    assert code == 1 and problem in error and not result.exists()
