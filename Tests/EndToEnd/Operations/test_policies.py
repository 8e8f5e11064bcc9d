"""What an operator can ask of the gateways."""

from server_api import ServerAPI, create_key
from waiting import eventually, let_pass


async def test_a_session_ends_with_its_token(make_stack, people, monkeypatch):
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_ENFORCE_TOKEN_EXPIRY", "1")
    stack = make_stack(gateways=2)
    app = stack.token_app
    async with people(stack) as cast:
        watcher, = await cast.login("watcher", app=app, gateway=0)
        short = cast.make("short", app)
        moved = cast.make("moved", app)
        for client in (short, moved):
            client.token = app.token(client.account, expires_in=4) if client is short else app.token(
                client.account, expires_in=6)
            await client.login(stack.gateways[1])
        # The session keeps its token's expiry when it resumes at another gateway.
        moved.abort()
        await eventually(moved.closed.is_set, "the connection broke")
        await moved.resume(stack.gateways[0])
        for client in (short, moved):
            await eventually(client.closed.is_set, "the session ends", 20)
            assert client.close_frame == "token_expired"

            async def is_offline(account: str = client.account) -> bool:
                return (await watcher.call("user_query_user_status", account=account))["status"] == 0

            # The connection ends at once, whatever the stores do; presence ends the session meanwhile. A session that was only
            # detached would be online for 20 s at least.
            await eventually(is_offline, "it is over, not detached", 5)
        assert not watcher.closed.is_set()


async def test_the_operator_bounds_how_long_messages_wait(make_stack, people, monkeypatch):
    monkeypatch.setenv("HELIOGRAPH_GATEWAY_MESSAGE_TTL", "2")
    stack = make_stack(gateways=1)
    async with people(stack) as cast:
        sender, = await cast.login("sender")
        late = cast.make("late")
        await sender.call("user_sendmsg", peer=late.account, flag="v1:E:2592000", t="instant", content="too old by then")
        app = stack.open_app.id
        api = ServerAPI(stack, create_key(stack, app=app)["key"])
        old = {"from": "shop", "message": "too old by then, too", "ttl": 2_592_000}
        assert api.post("apps", app, "users", late.account, "messages", body=old).status == 200
        assert api.post("apps", app, "messages", body={"items": [old | {"user": late.account}]}).body["failed"] == 0
        assert api.post("apps", app, "broadcasts", body=old | {"users": [late.account]}).body["failed"] == 0
        await let_pass(2.5, "the message outlives the 2 s that the operator allows")
        await sender.tell(late.account, "in time")
        await late.login(stack.gateways[0])
        await eventually(late.texts, "the message in time")
        assert late.texts() == ["in time"]
