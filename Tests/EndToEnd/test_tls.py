"""TLS on the port after the plain one."""

import ssl
import subprocess
from pathlib import Path

from signaling import Client
from stack_control import unique
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
