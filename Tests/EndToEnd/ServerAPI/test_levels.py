"""During an upgrade, what older processes do not know is refused until they have been replaced."""

from server_api import ServerAPI, create_key
from stack_control import Stack, unique
from waiting import eventually_blocking


def test_an_older_process_holds_the_server_api_back(make_stack):
    stack: Stack = make_stack(gateways=1)
    app = stack.open_app.id
    api = ServerAPI(stack, create_key(stack)["key"])
    path = ("apps", app, "users", unique("banned"), "ban")
    # At once, also right after the whole cluster has started.
    assert api.put(*path, body={"seconds": 60}).status == 200
    older = "presence-9.older"
    seconds = stack.redis("TIME").split()[0]
    # The process says that it runs, as it would; its record is not renewed, and ends 20 s later.
    stack.redis("ZADD", "{control}instances", f"{seconds}000", older)
    stack.redis("ZADD", "{control}levels", "1", older)
    refusal = None

    def is_refused() -> bool:
        nonlocal refusal
        refusal = api.put(*path, body={"seconds": 60})
        return refusal.status == 503

    eventually_blocking(is_refused, "the gateway knows of the older process", 12)
    assert refusal.code == "unavailable" and refusal.headers["Retry-After"] == "5"
    assert "level 2" in refusal.body["bound"] and "one has 1" in refusal.body["bound"]
    stack.redis("ZREM", "{control}instances", older)
    stack.redis("ZREM", "{control}levels", older)
    eventually_blocking(lambda: api.put(*path, body={"seconds": 60}).status == 200, "the older process has ended", 12)
