"""The Kubernetes files: valid, consistent within themselves, and with the settings of the services."""

import copy
import json
import os
import re
from pathlib import Path

import kubernetes_validate
import kubernetes_validate.utils
import pytest
import yaml
from stack_control import BINARIES, ROOT, Stack, run_program

FOLDER = ROOT / "Docker" / "kubernetes"
# From the oldest release that the schemas cover to the newest.
VERSIONS = (kubernetes_validate.utils.all_versions()[0], kubernetes_validate.latest_version())
SERVICES = ("gateway", "presence", "channel-state", "invitation", "sip-bridge", "webhooks")
# The files of the secret `heliograph-stores`, by the steps of Docs/operations.md.
STORES = {
    "redis-url": "redis://:secret@redis.example.org:6379\n",
    "postgres-url": "postgresql://heliograph:secret@postgres.example.org:5432/heliograph\n",
}
SERVICE_DEADLINE = 30


@pytest.fixture(scope="module")
def items() -> list[dict]:
    return yaml.safe_load((FOLDER / "heliograph.yaml").read_text())["items"]


def job(name: str) -> dict:
    return yaml.safe_load((FOLDER / name).read_text())


def backup_pod() -> dict:
    cron = of_kind(job("backup.yaml")["items"], "CronJob")["heliograph-backup"]
    return cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]


def patched_gateway(items: list[dict]) -> dict:
    """The gateways' Deployment with the patch for io_uring, as `kubectl patch` merges it."""
    patch, deployment = job("io-uring-gateway.yaml"), copy.deepcopy(of_kind(items, "Deployment")["gateway"])
    changed, = patch["spec"]["template"]["spec"]["containers"]
    assert patch == {"spec": {"template": {"spec": {"containers": [changed]}}}} and set(changed) == {"name", "securityContext"}
    container, = [each for each in deployment["spec"]["template"]["spec"]["containers"] if each["name"] == changed["name"]]
    container["securityContext"] = container["securityContext"] | changed["securityContext"]
    return deployment


def of_kind(items: list[dict], kind: str) -> dict[str, dict]:
    return {item["metadata"]["name"]: item for item in items if item["kind"] == kind}


def pod(items: list[dict], service: str) -> dict:
    return of_kind(items, "Deployment")[service]["spec"]["template"]["spec"]


def process(items: list[dict], service: str) -> dict:
    return pod(items, service)["containers"][0]


def environment(items: list[dict], service: str) -> dict[str, str]:
    """The variables of a pod's process, as Kubernetes would set them."""
    found = {}
    for source in process(items, service)["envFrom"]:
        found |= of_kind(items, "ConfigMap")[source["configMapRef"]["name"]]["data"]
    for variable in process(items, service).get("env", []):
        told = variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
        found[variable["name"]] = "10.1.2.3" if told == "status.hostIP" else variable["value"]
    return found


@pytest.fixture(scope="module")
def secret(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the secret, as Kubernetes would mount them."""
    folder = tmp_path_factory.mktemp("secret")
    for name, text in STORES.items():
        (folder / name).write_text(text)
    return folder


def mount(pod: dict) -> str:
    """Where the only container of a pod has the files of the secret, which its group may read."""
    volume, = pod["volumes"]
    assert volume["secret"] == {"secretName": "heliograph-stores", "defaultMode": 0o440}
    mounted, = pod["containers"][0]["volumeMounts"]
    assert (mounted["name"], mounted["readOnly"]) == (volume["name"], True)
    return mounted["mountPath"]


def settings(service: str) -> dict[str, str]:
    """The settings of a service, with their defaults."""
    done = run_program(str(BINARIES / service), "--print-configuration")
    assert done.returncode == 0, done.stderr
    return {name: default for name, _, default, _ in (line.split("\t") for line in done.stdout.splitlines())}


@pytest.mark.parametrize("version", VERSIONS)
def test_all_objects_are_valid(items: list[dict], version: str):
    others = [job(name) for name in ("expand.yaml", "contract.yaml", "io-uring.yaml")]
    for item in [*items, *job("backup.yaml")["items"], *others, patched_gateway(items)]:
        kubernetes_validate.validate(item, version, strict=True)


def test_an_invalid_object_would_be_noticed(items: list[dict]):
    misspelled = copy.deepcopy(of_kind(items, "Deployment")["gateway"])
    misspelled["spec"]["template"]["spec"]["terminationGracePeriod"] = 45
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(misspelled, VERSIONS[-1], strict=True)


def test_every_service_runs_and_may_lose_one_pod_at_a_time(items: list[dict]):
    deployments, budgets = of_kind(items, "Deployment"), of_kind(items, "PodDisruptionBudget")
    assert set(deployments) == set(budgets) == set(SERVICES)
    for name, deployment in deployments.items():
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        assert deployment["metadata"]["labels"] == labels
        assert deployment["spec"]["selector"]["matchLabels"] == labels
        assert budgets[name]["spec"] == {"maxUnavailable": 1, "selector": {"matchLabels": labels}}
        assert deployment["spec"]["replicas"] > 1
        assert process(items, name)["command"] == [name]
    assert len({str(deployment["spec"]["selector"]) for deployment in deployments.values()}) == len(SERVICES)


@pytest.mark.parametrize("service", SERVICES)
def test_settings_are_known_and_good(items: list[dict], service: str, secret: Path):
    """The service itself checks them: with one that it refuses, it does not start; of one that it ignores, it tells."""
    mounted = mount(pod(items, service))
    here = {name: value.replace(mounted, str(secret)) for name, value in environment(items, service).items()}
    assert f"{secret}/redis-url" in here.values()
    accepted = run_program(str(BINARIES / service), "--check-configuration", **here)
    assert (accepted.returncode, accepted.stderr) == (0, "")


@pytest.mark.parametrize("service", SERVICES)
def test_all_places_are_set(items: list[dict], service: str):
    """The defaults suit one machine only."""
    places = {name for name in settings(service) if name.endswith(("_URL", "_HOST", "_PORT"))}
    assert places <= {name.removesuffix("_FILE") for name in environment(items, service)}


@pytest.mark.parametrize("service", SERVICES)
def test_ports_and_checks_are_those_of_the_process(items: list[dict], service: str):
    container, variables = process(items, service), environment(items, service)
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports["admin"] == int(variables["HELIOGRAPH_HTTP_PORT"])
    host = {"host": "127.0.0.1"} if variables["HELIOGRAPH_HTTP_HOST"] == "127.0.0.1" else {}
    # A process is restarted only when it hangs, not when a store does not answer.
    for check, path in {"livenessProbe": "/healthz", "startupProbe": "/healthz", "readinessProbe": "/readyz"}.items():
        assert container[check]["httpGet"] == {"path": path, "port": "admin", **host}


@pytest.mark.parametrize("service", SERVICES)
def test_a_pod_has_time_to_stop(items: list[dict], service: str):
    defaults, variables = settings(service), environment(items, service)
    spans = [variables.get(name, defaults[name]) for name in defaults if name.endswith(("_DRAIN", "_LINGER"))]
    seconds = sum(float(re.fullmatch(r"([0-9.]+)s", span)[1]) for span in spans)
    before = process(items, service).get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", ["sleep", "0"])
    assert before[0] == "sleep" and (service != "gateway" or int(before[1]) > 0)
    assert pod(items, service)["terminationGracePeriodSeconds"] >= int(before[1]) + max(seconds + 15, SERVICE_DEADLINE + 10)


def test_pods_have_no_more_rights_than_they_need(items: list[dict]):
    pods = [pod(items, service) for service in SERVICES]
    pods += [job(name)["spec"]["template"]["spec"] for name in ("expand.yaml", "contract.yaml")]
    pods.append(backup_pod())
    user = int(re.search(r"useradd .*--uid (\d+)", (ROOT / "Dockerfile").read_text())[1])
    for each in pods:
        assert each["securityContext"]["runAsNonRoot"] is True
        assert {each["securityContext"][name] for name in ("runAsUser", "runAsGroup", "fsGroup")} == {user}
        assert each["containers"][0]["resources"]["limits"]["memory"]
        assert each["automountServiceAccountToken"] is False
        # Else variables of the service `gateway` have the names of settings.
        assert each["enableServiceLinks"] is False
        confined = each["containers"][0]["securityContext"]
        assert confined["readOnlyRootFilesystem"] is True
        assert confined["allowPrivilegeEscalation"] is False
        assert confined["capabilities"] == {"drop": ["ALL"]}
    assert [service for service in SERVICES if pod(items, service).get("hostNetwork")] == ["sip-bridge"]


def test_only_the_gateways_have_another_profile(items: list[dict]):
    before, after = of_kind(items, "Deployment")["gateway"], patched_gateway(items)
    own = after["spec"]["template"]["spec"]["containers"][0]["securityContext"].pop("seccompProfile")
    # Nothing else of the Deployment is changed: neither the other rights of the container nor those of the pod.
    assert after == before and own["type"] == "Localhost"
    for service in SERVICES:
        assert pod(items, service)["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert "seccompProfile" not in process(items, service)["securityContext"]


def test_the_profile_comes_onto_the_nodes_as_it_was_made(items: list[dict], tmp_path: Path):
    """The DaemonSet's own commands put there what docker-compose.io-uring.yml gives to its gateways."""
    spec = job("io-uring.yaml")["spec"]["template"]["spec"]
    copier, = spec["initContainers"]
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    # The only folder in which a kubelet looks for profiles.
    assert volumes["node"]["hostPath"]["path"] == "/var/lib/kubelet/seccomp"
    mounts = {mounted["name"]: mounted for mounted in copier["volumeMounts"]}
    assert mounts["profile"]["readOnly"] and not [each for each in spec["containers"] if "volumeMounts" in each]
    # The ConfigMap of the documents, made of the file that compose's overlay uses.
    text = (ROOT / "Docs" / "operations.md").read_text()
    told, = set(re.findall(r"create configmap (\S+) --from-file=(\S+)=(\S+)", text))
    overlay = yaml.safe_load((ROOT / "docker-compose.io-uring.yml").read_text())["services"]["gateway"]["security_opt"]
    assert overlay == ["seccomp:${HELIOGRAPH_SECCOMP:-./" + told[2] + "}"] and volumes["profile"]["configMap"] == {"name": told[0]}
    folders = {name: tmp_path / name for name in mounts}
    for folder in folders.values():
        folder.mkdir()
    engines = tmp_path / "default.json"
    engines.write_text(json.dumps({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": ["read"], "action": "SCMP_ACT_ALLOW"}]}))
    made = folders["profile"] / told[1]
    assert run_program("Docker/allow-io-uring", str(engines), str(made)).returncode == 0
    script = copier["command"][-1]
    for name, mounted in mounts.items():
        script = script.replace(mounted["mountPath"], str(folders[name]))
    # Again, when there is another one.
    (folders["node"] / told[1]).write_text("the profile before")
    done = run_program(*copier["command"][:-1], script)
    assert done.returncode == 0, done.stderr
    security = patched_gateway(items)["spec"]["template"]["spec"]["containers"][0]["securityContext"]
    found, = folders["node"].iterdir()
    assert found.name == security["seccompProfile"]["localhostProfile"] and found.read_bytes() == made.read_bytes()
    allowed = {name for rule in json.loads(found.read_text())["syscalls"] for name in rule["names"]}
    assert allowed == {"read", "io_uring_setup", "io_uring_enter", "io_uring_register"}


def test_only_the_copying_of_the_profile_is_roots():
    spec = job("io-uring.yaml")["spec"]["template"]["spec"]
    assert spec["automountServiceAccountToken"] is False and spec["enableServiceLinks"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True and spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in (*spec["initContainers"], *spec["containers"]):
        confined = container["securityContext"]
        assert confined["readOnlyRootFilesystem"] is True and confined["allowPrivilegeEscalation"] is False
        assert confined["capabilities"] == {"drop": ["ALL"]} and container["resources"]["limits"]["memory"]
        assert ("runAsUser" in confined) == (container["name"] == "copy")


def test_ports_are_open_to_those_who_need_them(items: list[dict]):
    """Anybody reaches the gateways' ports for clients; other ports have their users."""
    open_to: dict[tuple[str, str], list] = {}
    for policy in of_kind(items, "NetworkPolicy").values():
        assert policy["spec"]["policyTypes"] == ["Ingress"]
        wanted = policy["spec"]["podSelector"]["matchLabels"].items()
        for service in SERVICES:
            if wanted <= of_kind(items, "Deployment")[service]["spec"]["template"]["metadata"]["labels"].items():
                open_to.setdefault((service, ""), [])
                for rule in policy["spec"]["ingress"]:
                    for port in rule["ports"]:
                        open_to.setdefault((service, port["port"]), []).append(rule.get("from"))
    prometheus = [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]
    servers = [{"namespaceSelector": {}, "podSelector": {"matchLabels": {"heliograph-api": "client"}}}]
    # Each pod is selected, so that what is not named is closed.
    wanted = {(service, ""): [] for service in SERVICES} | {(service, "admin"): [prometheus] for service in SERVICES}
    assert open_to == wanted | {("gateway", "plain"): [None], ("gateway", "tls"): [None], ("gateway", "api"): [servers]}
    for service, port in open_to:
        assert not port or port in {each["name"] for each in process(items, service)["ports"]}


def test_clients_are_told_the_port_at_which_they_reach_gateways(items: list[dict]):
    entrance, variables = of_kind(items, "Service")["gateway"]["spec"], environment(items, "gateway")
    assert entrance["selector"] == of_kind(items, "Deployment")["gateway"]["spec"]["template"]["metadata"]["labels"]
    listening = {port["name"]: port["containerPort"] for port in process(items, "gateway")["ports"]}
    assert listening["plain"] == int(variables["HELIOGRAPH_GATEWAY_PORT"])
    assert listening["tls"] == listening["plain"] + 1
    public = int(variables["HELIOGRAPH_GATEWAY_PUBLIC_PORT"])
    assert {port["targetPort"]: port["port"] for port in entrance["ports"]} == {"plain": public, "tls": public + 1}


def test_the_console_is_reached_by_a_forwarded_port_only(items: list[dict]):
    services, variables = of_kind(items, "Service"), environment(items, "gateway")
    assert variables["HELIOGRAPH_GATEWAY_API_PAGES"] == "true"
    port = int(variables["HELIOGRAPH_GATEWAY_API_PORT"])
    published = {name for name, service in services.items() if service["spec"].get("type", "ClusterIP") != "ClusterIP"}
    open_at = {name for name, service in services.items() for each in service["spec"]["ports"] if each["targetPort"] == "api"}
    assert published == {"gateway"} and open_at == {"gateway-api"}
    # The command of the documents names the Service and its port.
    told = set(re.findall(r"kubectl -n heliograph port-forward service/(\S+) (\d+)", (ROOT / "Docs" / "operations.md").read_text()))
    assert told == {("gateway-api", str(port))} == {("gateway-api", str(each["port"])) for each in services["gateway-api"]["spec"]["ports"]}


@pytest.mark.parametrize("name", ["expand.yaml", "contract.yaml"])
def test_migrations_are_called_as_the_program_wants_it(name: str, tmp_path: Path):
    pod = job(name)["spec"]["template"]["spec"]
    container = pod["containers"][0]
    assert container["env"] == [{"name": "HELIOGRAPH_POSTGRES_URL_FILE", "value": f"{mount(pod)}/postgres-url"}]
    program, *arguments = container["command"]
    assert ("--contract" in arguments) == (name == "contract.yaml")
    # The same arguments, against a port where nothing answers: the program gets as far as connecting.
    nowhere = [("0" if argument == "60" else argument) for argument in arguments]
    (tmp_path / "url").write_text("postgresql://heliograph@127.0.0.1:1/heliograph")
    done = run_program(str(BINARIES / program), *nowhere, HELIOGRAPH_POSTGRES_URL_FILE=str(tmp_path / "url"))
    assert done.returncode != 0
    assert "Usage" not in done.stderr and "configuration" not in done.stderr, done.stderr


def test_backups_are_made_and_old_ones_removed(stack: Stack, tmp_path: Path):
    """The job's own commands, with the stores of a cluster."""
    pod = backup_pod()
    container = pod["containers"][0]
    mounts = {mounted["name"]: mounted for mounted in container["volumeMounts"]}
    claim, = of_kind(job("backup.yaml")["items"], "PersistentVolumeClaim")
    assert [volume["persistentVolumeClaim"]["claimName"] for volume in pod["volumes"] if volume["name"] == "backups"] == [claim]
    assert mounts["stores"]["readOnly"] and "readOnly" not in mounts["backups"]
    secrets, backups = tmp_path / "secrets", tmp_path / "backups"
    for folder in (secrets, backups, backups / "2020-01-31T03-17-00", backups / "2020-02-01T03-17-00", backups / "other"):
        folder.mkdir()
    for name in ("2020-01-31T03-17-00", "other"):
        os.utime(backups / name, (0, 0))
    (secrets / "redis-url").write_text(stack.endpoints["redis"]["url"])
    (secrets / "postgres-url").write_text(stack.endpoints["postgres"]["url"])
    script = container["command"][-1].replace(mounts["backups"]["mountPath"], str(backups))
    variables = {one["name"]: one["value"].replace(mounts["stores"]["mountPath"], str(secrets)) for one in container["env"]}
    path = f"{BINARIES}:{os.environ['PATH']}"
    done = run_program(*container["command"][:-1], script, PATH=path, **variables)
    assert done.returncode == 0, done.stderr
    made, = {found.name for found in backups.iterdir()} - {"2020-02-01T03-17-00", "other"}
    assert (backups / made / "manifest").is_file()
    # What failed removes nothing.
    os.utime(backups / "2020-02-01T03-17-00", (0, 0))
    (secrets / "postgres-url").write_text("postgresql://heliograph@127.0.0.1:1/heliograph")
    assert run_program(*container["command"][:-1], script, PATH=path, **variables).returncode != 0
    assert (backups / "2020-02-01T03-17-00").is_dir()
