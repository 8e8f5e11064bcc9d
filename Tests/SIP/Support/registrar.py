"""A registrar over UDP that answers REGISTER as it is told, without asking who it is."""

import asyncio

from messages import SIPMessage
from peers import LOOPBACK


class Registrar(asyncio.DatagramProtocol):
    """`async with Registrar(port) as registrar:`; `status` None: it does not answer."""

    def __init__(self, port: int, status: int | None = 200, expires: int = 60):
        self.port = port
        self.status = status
        self.expires = expires
        self.requests: list[SIPMessage] = []
        self._transport: asyncio.DatagramTransport | None = None

    async def __aenter__(self) -> "Registrar":
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=(LOOPBACK, self.port))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._transport.close()

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        """Answers a REGISTER."""
        request = SIPMessage.parse(data.decode(), received=True)
        if request.method != "REGISTER":
            return
        self.requests.append(request)
        if self.status is None:
            return
        expires = min(self.expires, int(request.header("Expires")))
        lines = [f"SIP/2.0 {self.status} Told", *(f"Via: {via}" for via in request.all("Via")), f"From: {request.header('From')}",
                 f"To: {request.header('To')};tag=r", f"Call-ID: {request.header('Call-ID')}", f"CSeq: {request.header('CSeq')}"]
        if self.status == 200 and expires > 0:
            lines.append(f"Contact: {request.header('Contact')};expires={expires}")
        self._transport.sendto("\r\n".join([*lines, "Content-Length: 0", "", ""]).encode(), address)
