"""The dynamic keys that admit to media channels, as the public builders of versions 003, 004 and 005 make them."""

import base64
import hashlib
import hmac
import struct
import time
from dataclasses import dataclass, field

from apps import App
from secrecy import SPOKEN

VERSIONS = ("003", "004", "005")
# The numbers of the services in version 005.
SERVICES = {"ACS": 1, "ARS": 2, "APSS": 3}


@dataclass(frozen=True)
class Grant:
    """What a key says besides app, channel and user."""

    service: str = "ACS"
    made: int = field(default_factory=lambda: int(time.time()))
    """Unix seconds."""
    random: int = 58_964_981
    expiry: int = 0
    """Unix seconds; 0 for never."""


def dynamic_key(version: str, app: App, channel: str, uid: int, grant: Grant | None = None) -> str:
    """The text of a key."""
    grant = grant or Grant()
    SPOKEN.certificate(app.certificate)
    text = _packed(app, channel, uid, grant) if version == "005" else _plain(version, app, channel, uid, grant)
    SPOKEN.dynamic_key(text)
    return text


def _plain(version: str, app: App, channel: str, uid: int, grant: Grant) -> str:
    made = f"{grant.made:010}{grant.random:08x}"
    expiry, user = f"{grant.expiry:010}", f"{uid:010}"
    service = grant.service if version == "004" else ""
    content = service.encode() + app.id.encode().rjust(32, b"\0") + f"{made}{channel}{user}{expiry}".encode()
    signature = hmac.new(app.certificate.encode(), content, hashlib.sha1).hexdigest()
    return f"{version}{signature}{app.id}{made}{user if version == '003' else ''}{expiry}"


def _packed(app: App, channel: str, uid: int, grant: Grant) -> str:
    service, raw = struct.pack("<H", SERVICES[grant.service]), _string(bytes.fromhex(app.id))
    numbers, expiry, no_map = struct.pack("<II", grant.made, grant.random), struct.pack("<I", grant.expiry), struct.pack("<H", 0)
    content = service + raw + numbers + _string(channel.encode()) + struct.pack("<I", uid) + expiry + no_map
    signature = hmac.new(bytes.fromhex(app.certificate), content, hashlib.sha1).hexdigest().upper()
    body = service + _string(signature.encode()) + raw + numbers + expiry + no_map
    return f"005{base64.b64encode(body).decode()}"


def _string(data: bytes) -> bytes:
    return struct.pack("<H", len(data)) + data
