"""What an app may store under invented names."""

from server_api import ServerAPI, create_key
from stack_control import Stack, unique


def fill(stack: Stack, app: str, kind: str, bound: int) -> None:
    """As if the app had stored as much as it may."""
    stack.sql(f"UPDATE app_stored SET rows = {bound} WHERE app = '{app}' AND kind = '{kind}'")


def test_bans_and_revocations(stack: Stack):
    app = stack.create_app(unique("bans")).id
    api = ServerAPI(stack, create_key(stack, app=app)["key"])

    def ban(name: str):
        return api.put("apps", app, "users", name, "ban", body={"seconds": 60})

    assert ban("first").status == 200
    fill(stack, app, "bans", 99_999)
    assert ban("last").status == 200
    for refused in (ban("more"), api.post("apps", app, "users", "more", "tokens", "revoke", body={"ttl": 60})):
        assert (refused.status, refused.code) == (409, "too_many_bans")
        assert "100000 bans" in refused.body["bound"]
    # What is there can be changed, and lifted.
    assert ban("first").status == 200
    assert api.delete("apps", app, "users", "first", "ban").status == 200
    assert api.delete("apps", app, "users", "nobody", "ban").status == 200
    assert stack.sql(f"SELECT count(*) FROM user_bans WHERE app = '{app}'") == [["2"]]


def test_users_with_attributes(stack: Stack):
    app = stack.create_app(unique("owners")).id
    api = ServerAPI(stack, create_key(stack, app=app)["key"])

    def set_attribute(name: str, value: str):
        return api.put("apps", app, "users", name, "attributes", "a", body={"value": value})

    assert set_attribute("first", "1").status == 200
    fill(stack, app, "attribute owners", 10_000_000)
    refused = set_attribute("more", "1")
    assert (refused.status, refused.code) == (409, "too_many_attributes")
    assert "10000000 attribute owners" in refused.body["bound"]
    assert set_attribute("first", "2").status == 200
    assert api.get("apps", app, "users", "first", "attributes", "a").body["value"] == "2"
