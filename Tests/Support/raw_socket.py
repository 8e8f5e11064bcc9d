"""A WebSocket that reads only when it is told to, and can write what proper clients never send."""

import base64
import json
import os
import socket
import struct

from secrecy import SPOKEN

# As SO_LINGER: closing resets the connection at once, and what is under way in either direction is lost.
RESET = struct.pack("ii", 1, 0)


def handshake(host: str) -> bytes:
    """The HTTP request that opens a WebSocket."""
    key = base64.b64encode(os.urandom(16)).decode()
    return (
        f"GET / HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode()


def frame(name: str, argument: object) -> bytes:
    """A text frame with `[name, argument]`. Clients must mask; a mask of zeros changes nothing."""
    payload = json.dumps([name, argument]).encode()
    length = struct.pack("!B", 0x80 | len(payload)) if len(payload) < 126 else struct.pack("!BH", 0xFE, len(payload))
    return b"\x81" + length + b"\0\0\0\0" + payload


class RawSocket:
    """A connection without a library, so that nothing is read unless the test reads it."""

    def __init__(self, url: str, *, before: bytes = b"", receive_buffer: int = 4096):
        host, port = url.removeprefix("ws://").rstrip("/").split(":")
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(10)
        self.socket.connect((host, int(port)))
        if before:
            # Byte by byte, because no server may count on getting it at once.
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in before:
                self.socket.sendall(bytes([byte]))
        self.socket.sendall(handshake(host))
        answer = b""
        while not answer.endswith(b"\r\n\r\n"):
            byte = self.socket.recv(1)
            if not byte:
                raise ConnectionError("closed in the handshake")
            answer += byte
        assert answer.startswith(b"HTTP/1.1 101 "), answer

    def send(self, name: str, argument: object) -> None:
        self.socket.sendall(frame(name, argument))

    def flood(self, data: bytes, most: int, patience: float = 1.0) -> int:
        """Writes `data` again and again until `most` bytes are accepted, or none for `patience` seconds, or the server has closed.

        Returns the number of bytes that were accepted.
        """
        self.socket.settimeout(patience)
        view, sent = memoryview(data), 0
        try:
            while sent < most:
                # A frame of which only a part was accepted is continued, so that frames stay whole.
                sent += self.socket.send(view[sent % len(data):])
        except OSError:
            pass
        return sent

    def receive(self) -> tuple[int, bytes]:
        """One frame of the server: opcode and payload."""
        self.socket.settimeout(10)
        first, second = self._take(2)
        length = second & 0x7F
        if length == 126:
            length, = struct.unpack("!H", self._take(2))
        elif length == 127:
            length, = struct.unpack("!Q", self._take(8))
        return first & 0xF, self._take(length)

    def message(self, name: str) -> object:
        """Reads frames up to the one of this name."""
        while True:
            opcode, payload = self.receive()
            assert opcode == 1, (opcode, payload)
            found, argument = json.loads(payload)
            if found == name:
                return argument

    def login(self, app_id: str, account: str) -> str:
        """Logs in without a token; returns the line."""
        SPOKEN.name(account)
        self.send("login", {"vid": app_id, "account": account, "uid": 0, "token": "_no_need_token", "device": "raw", "ip": ""})
        error, text = self.message("login_ret")
        assert error == "", text
        return json.loads(text)["line"]

    def close(self) -> None:
        self.socket.close()

    def _take(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            got = self.socket.recv(min(count - len(data), 1 << 16))
            if not got:
                raise ConnectionError("closed by the server")
            data += got
        return data
