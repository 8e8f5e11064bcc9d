"""A key that may have been revoked is not used for longer than a few seconds."""

from server_api import ServerAPI, create_key
from stack_control import Stack
from waiting import eventually_blocking

# Docs/api.md states it; the query that fails takes up to 2 s.
LONGEST = 12


def test_a_key_is_not_used_when_it_cannot_be_checked(make_stack):
    stack: Stack = make_stack(gateways=1)
    api = ServerAPI(stack, create_key(stack)["key"])
    assert api.get("key").status == 200
    stack.freeze("postgres")
    try:
        # What was read is used for some seconds more.
        assert api.get("key").status == 200
        eventually_blocking(lambda: api.get("key").status == 503, "the key is not used any more", LONGEST)
        refused = api.get("key")
        assert (refused.status, refused.code) == (503, "unavailable")
    finally:
        stack.thaw("postgres")
    eventually_blocking(lambda: api.get("key").status == 200, "the key is checked again")
