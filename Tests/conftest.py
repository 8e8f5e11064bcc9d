"""What all Python tests have in common: the flavour of Redis that they run on."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "Support"))

from redis_flavour import pytest_collection_modifyitems, pytest_configure  # noqa: E402, F401
