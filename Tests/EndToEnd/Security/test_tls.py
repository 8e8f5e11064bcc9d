"""TLS on the port after the plain one."""

import os
import signal
import socket
import ssl
from pathlib import Path

import pytest
from certificates import make_certificate
from signaling import Client
from stack_control import Stack, unique
from waiting import eventually
from websockets.asyncio.client import connect


# The web SDKs connect to ADDRESS-sig-web.agora.io, a name that they make of a gateway's address.
WEB_NAMES = "DNS:*.agora.io"


@pytest.fixture
def tls_stack(make_stack, tmp_path, monkeypatch) -> tuple[Stack, tuple[str, int], Path]:
    """A stack whose gateway speaks TLS too; the address of that, and the file with the gateway's certificate and key."""
    certificate = make_certificate(tmp_path, WEB_NAMES)
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_TLS_CERTIFICATE", str(certificate))
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_TLS_KEY", str(certificate))
    stack = make_stack(gateways=1)
    host, port = stack.gateways[0].removeprefix("ws://").split(":")
    return stack, (host, int(port) + 1), certificate


async def test_wss_on_the_next_port(tls_stack):
    stack, (host, port), certificate = tls_stack
    trust = ssl.create_default_context(cafile=str(certificate))
    name = f"{host.replace('.', '-')}-sig-web.agora.io"
    async with connect(f"wss://{name}:{port}/", host=host, port=port, ssl=trust, proxy=None) as socket:
        await socket.send('["ping", 5]')
        assert await socket.recv() == '["pong",5]'
    # The plain port goes on serving.
    client = Client(stack.open_app, unique("plain"))
    await client.login(stack.gateways[0])
    await client.close()


def trusting_all() -> ssl.SSLContext:
    """TLS that accepts any certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def shown_certificate(address: tuple[str, int], version: ssl.TLSVersion | None = None) -> bytes:
    context = trusting_all()
    # The library must offer what the gateway is to refuse.
    context.set_ciphers("ALL:@SECLEVEL=0")
    if version:
        context.minimum_version = context.maximum_version = version
    with socket.create_connection(address, timeout=5) as plain, context.wrap_socket(plain) as secure:
        return secure.getpeercert(binary_form=True)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_old_tls_is_refused(tls_stack):
    _, address, _ = tls_stack
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        assert shown_certificate(address, version)
    for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
        with pytest.raises((ssl.SSLError, OSError)):
            shown_certificate(address, version)


async def test_a_renewed_certificate_is_shown_after_sighup(tls_stack, tmp_path):
    stack, address, certificate = tls_stack
    async with connect(f"wss://{address[0]}:{address[1]}/", ssl=trusting_all(), proxy=None) as socket_before:
        first = shown_certificate(address)
        make_certificate(tmp_path, WEB_NAMES)
        assert shown_certificate(address) == first, "nobody said that the file has changed"
        os.kill(stack.pids["gateway#1"], signal.SIGHUP)
        await eventually(lambda: shown_certificate(address) != first, "the new certificate is shown")
        second = shown_certificate(address)
        certificate.write_text("no certificate")
        os.kill(stack.pids["gateway#1"], signal.SIGHUP)
        log = stack.directory / "logs" / "gateway#1.log"
        await eventually(lambda: "could not reload the certificate" in log.read_text(), "the bad file is logged")
        assert shown_certificate(address) == second
        await socket_before.send('["ping", 5]')
        assert await socket_before.recv() == '["pong",5]'
