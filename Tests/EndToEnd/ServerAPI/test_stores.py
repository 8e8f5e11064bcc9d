"""How the servers of Redis and PostgreSQL are doing, over the server API."""

from server_api import ServerAPI, create_key
from stack_control import Stack
from waiting import eventually_blocking


def test_the_servers(stack: Stack):
    found = ServerAPI(stack, create_key(stack)["key"]).get("stores")
    assert found.status == 200 and found.body["postgresProblem"] is None
    assert sorted(one["server"] for one in found.body["redis"]) == sorted(
        url.rsplit("@", 1)[-1].removeprefix("redis://").split("/")[0] for url in stack.redis_urls[:len(found.body["redis"])])
    for master in found.body["redis"]:
        assert master["answers"] and master["usedBytes"] > 0 and master["clients"] > 0 and master["version"][0].isdigit()
    server, = found.body["postgres"]
    assert (server["answers"], server["role"], server["problem"], server["standbys"]) == (True, "primary", None, 0)
    assert 0 < server["connections"] <= server["maxConnections"] and server["version"] == stack.sql("SHOW server_version")[0][0].split(" ")[0]


def test_only_keys_of_the_cluster_see_them(stack: Stack):
    assert ServerAPI(stack, create_key(stack, app=stack.open_app.id)["key"]).get("stores").status == 403


def test_a_server_that_does_not_answer_is_named(make_stack):
    stack: Stack = make_stack(gateways=1)
    api = ServerAPI(stack, create_key(stack)["key"])
    known, = api.get("stores").body["postgres"]
    stack.kill("postgres")

    seen = []

    def silent() -> bool:
        seen[:] = api.get("stores").body["postgres"]
        return [(one["server"], one["answers"]) for one in seen] == [(known["server"], False)]

    # Within the seconds for which the key is used without being checked.
    eventually_blocking(silent, "the server is named as one that does not answer", 5)
    assert seen[0]["problem"] and seen[0]["role"] is None and seen[0]["version"] is None
