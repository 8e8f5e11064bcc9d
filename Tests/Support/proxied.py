"""Clients whose addresses a proxy tells by the PROXY protocol; the tests are the proxy. Import the fixtures that a file uses."""

import os
from collections.abc import Iterator
from unittest import mock

import pytest

from fixtures import running
from raw_socket import RawSocket
from server_api import ServerAPI, create_key
from stack_control import Stack


@pytest.fixture(scope="module")
def stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """A cluster whose gateways are told clients' addresses."""
    with mock.patch.dict(os.environ, {"HELIOGRAPH_GATEWAY_PROXY_FROM": "127.0.0.0/8"}), running(request, gateways=2, sip_bridge=0) as stack:
        yield stack


@pytest.fixture(scope="module")
def api(stack: Stack) -> ServerAPI:
    return ServerAPI(stack, create_key(stack)["key"])


def connected(stack: Stack, client: str | None, gateway: int = 0) -> RawSocket:
    """A client with this address; None where the proxy speaks for itself, as in a check of health."""
    match client:
        case None: header = "UNKNOWN"
        case _ if ":" in client: header = f"TCP6 {client} ::1 4000 80"
        case _: header = f"TCP4 {client} 127.0.0.1 4000 80"
    return RawSocket(stack.gateways[gateway], before=f"PROXY {header}\r\n".encode())
