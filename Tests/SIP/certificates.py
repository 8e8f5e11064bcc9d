"""Certificates for one run of the tests."""

import subprocess
from pathlib import Path

from peers import LOOPBACK


def make_certificate(folder: Path) -> Path:
    """A PEM file with a new key and a certificate of 127.0.0.1 that is its own authority."""
    key, certificate, both = (folder / name for name in ("key.pem", "certificate.pem", "both.pem"))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", f"/CN={LOOPBACK}", "-addext", f"subjectAltName=IP:{LOOPBACK}", "-keyout", key, "-out", certificate],
        check=True, capture_output=True)
    both.write_text(key.read_text() + certificate.read_text())
    return both
