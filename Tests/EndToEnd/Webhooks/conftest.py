"""What the tests of webhooks have in common."""

from collections.abc import Iterator

import pytest
from webhook_receiver import Receiver


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A server of an app that takes events."""
    with Receiver() as receiver:
        yield receiver
