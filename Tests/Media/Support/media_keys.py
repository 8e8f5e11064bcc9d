"""The keys of an engine's media: X25519 and HKDF-SHA256, a key and a salt of AEAD_AES_128_GCM for each direction."""

import base64
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

# A key of 16 bytes and a salt of 12.
SIZE = 28


@dataclass(frozen=True)
class MediaKeys:
    """Each a master key, then its salt."""

    client: bytes
    """What the engine sends with."""
    server: bytes


class KeyPair:
    """An engine's own half of the agreement."""

    def __init__(self) -> None:
        self._private = X25519PrivateKey.generate()

    @property
    def public(self) -> str:
        """As `media.join` takes it."""
        return base64.b64encode(self._private.public_key().public_bytes_raw()).decode()

    def agree(self, public: str, pid: str) -> MediaKeys:
        """The keys with the owner of the other half, for the participant `pid`."""
        shared = self._private.exchange(X25519PublicKey.from_public_bytes(base64.b64decode(public, validate=True)))
        client, server = (
            HKDF(SHA256(), SIZE, pid.encode(), f"heliograph media {side}".encode()).derive(shared)
            for side in ("client", "server"))
        return MediaKeys(client, server)
