"""How each of the cluster's own processes is started."""

import json
import os
import subprocess
from pathlib import Path

from . import hosts, stores
from .errors import StackError
from .record import Member, Record

# In the order in which they are started; each is also the name of the program.
KINDS = ("presence", "channel-state", "invitation", "sip-bridge", "webhooks", "media", "gateway")
# Kinds that a cluster needs only for apps that use them: they are started, and their programs must exist, only if asked for.
OPTIONAL = ("webhooks", "media")
# How many consecutive ports a kind has, apart from that of its health listener, and which of a gateway's is the server API's.
PORTS = {"gateway": 3, "sip-bridge": 2, "media": 1}
API_PORT = 2
CONTROL = "heliographctl"
CONTROL_SECONDS = 60
# The highest values that the programs accept: in effect, no limits.
MOST_CONNECTIONS = "1000000"
MOST_MESSAGES = "1000000"


def option(kind: str) -> str:
    """The name of the option of `up` that says how many processes of a kind there are."""
    return "gateways" if kind == "gateway" else kind


def usual(kind: str) -> int:
    """How many processes of a kind there are by default."""
    return 0 if kind in OPTIONAL else 1


def binary_directory() -> Path:
    """Where the executables are: HELIOGRAPH_BIN, or the release build of this checkout."""
    root = Path(__file__).resolve().parents[2]
    directory = Path(os.environ.get("HELIOGRAPH_BIN") or root / ".build" / "release").resolve()
    if missing := _missing(directory, (*(kind for kind in KINDS if kind not in OPTIONAL), CONTROL)):
        raise StackError(
            f"{directory} has no {', '.join(missing)}: build with `make release`, "
            "or say where the programs are with HELIOGRAPH_BIN")
    return directory


def program(kind: str, directory: Path | None = None) -> str:
    """The path of a kind's executable, in another release's directory or the usual one."""
    directory = directory or binary_directory()
    if _missing(directory, (kind,)):
        raise StackError(f"{directory} has no {kind}")
    return str(directory / kind)


def _missing(directory: Path, names: tuple[str, ...]) -> list[str]:
    return [name for name in names if not os.access(directory / name, os.X_OK)]


def service_member(record: Record, kind: str, number: int, http_port: int, ports: list[int], unlimited: bool) -> Member:
    """The `number`th process of `kind`; `ports` are those of `PORTS`."""
    name = f"{kind}#{number}"
    member = Member(name, kind, [*ports, http_port], [program(kind)], **hosts.place(record, name))
    member.http = f"http://{member.address}:{http_port}"
    environment = {
        "HELIOGRAPH_INSTANCE": f"{kind}-{number}",
        **stores.urls(record),
        "HELIOGRAPH_HTTP_HOST": member.address,
        "HELIOGRAPH_HTTP_PORT": str(http_port),
        "HELIOGRAPH_LOG_FORMAT": "json",
    }
    if kind == "gateway":
        environment |= {
            "HELIOGRAPH_GATEWAY_HOST": member.address,
            "HELIOGRAPH_GATEWAY_PORT": str(ports[0]),
            "HELIOGRAPH_GATEWAY_PUBLIC_HOST": member.address,
            "HELIOGRAPH_GATEWAY_PUBLIC_PORT": str(ports[0]),
            "HELIOGRAPH_GATEWAY_API_HOST": member.address,
            "HELIOGRAPH_GATEWAY_API_PORT": str(ports[API_PORT]),
            "HELIOGRAPH_GATEWAY_API_PAGES": "true",
            "HELIOGRAPH_GATEWAY_EVENT_LOOPS": "1",
            # No load balancer has to notice that it stops.
            "HELIOGRAPH_GATEWAY_LINGER": "0s",
        }
        if unlimited:
            environment["HELIOGRAPH_GATEWAY_CONNECTIONS"] = MOST_CONNECTIONS
    elif kind == "sip-bridge":
        environment |= {"HELIOGRAPH_SIP_HOST": member.address, "HELIOGRAPH_SIP_PORT": str(ports[0])}
    elif kind == "media":
        environment |= {"HELIOGRAPH_MEDIA_HOST": member.address, "HELIOGRAPH_MEDIA_PORT": str(ports[0])}
    member.environment = environment | _settings_from_outside(kind)
    return member


def _settings_from_outside(kind: str) -> dict[str, str]:
    """The settings of the caller's environment for this kind (HELIOGRAPH_GATEWAY_TLS_KEY) or for all (HELIOGRAPH_LOG_LEVEL).

    Not those that say where the stores are, which the stack itself decides.
    """
    own = "SIP" if kind == "sip-bridge" else kind.upper().replace("-", "_")
    wanted = [f"HELIOGRAPH_{own}_", "HELIOGRAPH_LOG_", "HELIOGRAPH_REDIS_DURABILITY"]
    if kind in ("presence", "channel-state", "invitation"):
        # Those that queue events for webhooks.
        wanted.append("HELIOGRAPH_WEBHOOKS_BACKLOG")
    return {name: value for name, value in os.environ.items() if name.startswith(tuple(wanted)) and value}


def control(record: Record, *arguments: str) -> str:
    """Runs `heliographctl` against the stack's database."""
    command = [str(binary_directory() / CONTROL), *arguments]
    # The other arguments may hold a secret.
    name = " ".join([CONTROL, *arguments[:2]])
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HELIOGRAPH_")}
    environment |= stores.urls(record)
    try:
        with hosts.inside(record):
            done = subprocess.run(
                command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=CONTROL_SECONDS,
                check=False)
    except subprocess.TimeoutExpired:
        raise StackError(f"{name} took more than {CONTROL_SECONDS} s") from None
    if done.returncode != 0:
        raise StackError(f"{name} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def create_app(record: Record, app_id: str, *, token_required: bool, unlimited: bool = False) -> dict:
    """Creates a demo app; returns its entry for endpoints.json."""
    options = [] if token_required else ["--open"]
    if unlimited:
        for rate in ("messages", "channel-messages", "acts", "attribute-changes", "channel-attribute-changes"):
            options += [f"--{rate}-per-second", MOST_MESSAGES]
    output = control(record, "app", "create", "--id", app_id, *options, "--json")
    try:
        app = json.loads(output)
        return {name: app[name] for name in ("appId", "certificate", "tokenRequired")}
    except (ValueError, KeyError) as error:
        raise StackError(f"{CONTROL} app create --json printed something else: {error!r}") from error
