"""Fixtures: the clusters and raw clients of Tests/Support; Tests/SIP/Support/scene.py adds telephones."""

import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "Support"), str(HERE.parent / "Support")]

from apps import App  # noqa: E402
from certificates import make_certificate  # noqa: E402
from fixtures import pytest_pyfunc_call, running  # noqa: E402, F401
from peers import LOOPBACK, free_port  # noqa: E402
from scene import TRUNK_SECONDS  # noqa: E402
from stack_control import Stack  # noqa: E402
from waiting import let_pass_blocking  # noqa: E402


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate that this run's peers trust."""
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="session")
def stack(request: pytest.FixtureRequest, certificate: Path) -> Iterator[Stack]:
    """Two gateways, one of each service, a bridge with TLS; for tests that kill nothing."""
    with pytest.MonkeyPatch.context() as environment:
        for name in ("HELIOGRAPH_SIP_TLS_CERTIFICATE", "HELIOGRAPH_SIP_TLS_AUTHORITY"):
            environment.setenv(name, str(certificate))
        with running(request, gateways=2) as stack:
            yield stack


@pytest.fixture(scope="session")
def line(stack: Stack) -> App:
    """An app whose trunk is this machine, and which the bridge knows: for tests of calls from telephones."""
    app = stack.create_app(uuid.uuid4().hex)
    stack.control("trunk", "set", app.id, f"{LOOPBACK}:{free_port()}", "--allow=none")
    let_pass_blocking(TRUNK_SECONDS, "bridges read the trunks so often, and tell nobody")
    return app
