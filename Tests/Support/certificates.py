"""Certificates for one run of the tests."""

import subprocess
from pathlib import Path


def make_certificate(folder: Path, name: str = "IP:127.0.0.1", days: int = 2) -> Path:
    """A PEM file with a new key and a self-signed certificate of it for `name` (`IP:...` or `DNS:...`)."""
    key, certificate, both = (folder / f"{part}.pem" for part in ("key", "certificate", "both"))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", str(days),
         "-subj", f"/CN={name.partition(':')[2]}", "-addext", f"subjectAltName={name}", "-keyout", key, "-out", certificate],
        check=True, capture_output=True, timeout=60)
    both.write_text(key.read_text() + certificate.read_text())
    return both
