"""TLS on the port after the plain one."""

import os
import signal
import socket
import ssl
import subprocess
from pathlib import Path

import pytest
from signaling import Client
from stack_control import unique
from waiting import eventually
from websockets.asyncio.client import connect


def make_certificate(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=test", "-addext", "subjectAltName=DNS:*.agora.io", "-keyout", key, "-out", certificate],
        check=True, capture_output=True)
    return certificate, key


async def test_wss_on_the_next_port(make_stack, tmp_path, monkeypatch):
    certificate, key = make_certificate(tmp_path)
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_TLS_CERTIFICATE", str(certificate))
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_TLS_KEY", str(key))
    stack = make_stack(gateways=1)
    host, port = stack.gateways[0].removeprefix("ws://").split(":")
    trust = ssl.create_default_context(cafile=str(certificate))
    # As the web SDKs: by the name that the address is dressed up in, which the certificate must cover.
    name = f"{host.replace('.', '-')}-sig-web.agora.io"
    async with connect(
            f"wss://{name}:{int(port) + 1}/", host=host, port=int(port) + 1, ssl=trust, proxy=None) as socket:
        await socket.send('["ping", 5]')
        assert await socket.recv() == '["pong",5]'
    # And plain beside it.
    client = Client(stack.open_app, unique("plain"))
    await client.login(stack.gateways[0])
    await client.close()


@pytest.fixture
def tls_stack(make_stack, tmp_path, monkeypatch):
    certificate, key = make_certificate(tmp_path)
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_TLS_CERTIFICATE", str(certificate))
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_TLS_KEY", str(key))
    stack = make_stack(gateways=1)
    host, port = stack.gateways[0].removeprefix("ws://").split(":")
    return stack, (host, int(port) + 1), certificate


def shown_certificate(address: tuple[str, int], version: ssl.TLSVersion | None = None) -> bytes:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
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
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    async with connect(f"wss://{address[0]}:{address[1]}/", ssl=context, proxy=None) as socket_before:
        first = shown_certificate(address)
        make_certificate(tmp_path)
        assert shown_certificate(address) == first, "nobody said that the file has changed"
        os.kill(stack.pids["gateway#1"], signal.SIGHUP)
        await eventually(lambda: shown_certificate(address) != first, "the new certificate is shown")
        second = shown_certificate(address)
        certificate.write_text("no certificate")
        os.kill(stack.pids["gateway#1"], signal.SIGHUP)
        log = stack.directory / "logs" / "gateway#1.log"
        await eventually(lambda: "the old one stays" in log.read_text(), "the bad file is logged")
        assert shown_certificate(address) == second
        await socket_before.send('["ping", 5]')
        assert await socket_before.recv() == '["pong",5]'
