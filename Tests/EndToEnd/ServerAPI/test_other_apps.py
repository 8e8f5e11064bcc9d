"""Keys of an app, at all operations of other apps: they do nothing there, and do not learn which apps there are."""

from described_api import document, is_as_described, operations, resolved
from event_stream import Stream
from server_api import Answer, ServerAPI, create_key
from stack_control import Stack, unique

# It needs a key of the cluster, also where the key is for the app.
OF_CLUSTER = {"removeApp"}
# Where it is allowed, its answer is a stream.
ENDLESS = "followEvents"


def asked(api: ServerAPI, described: dict, name: str, app: str) -> Answer:
    """What an operation answers of an app, to the file's own examples of its path and body."""
    if name == ENDLESS:
        stream = Stream(api, app)
        stream.close()
        return stream.answered()
    method, path, operation = operations(described)[name]
    parameters = [resolved(described, one) for one in operation["parameters"]]
    values = {one["name"]: str(one["example"]) for one in parameters if one["in"] == "path"} | {"app": app}
    parts = [values[part[1:-1]] if part.startswith("{") else part for part in path.removeprefix("/v1/").split("/")]
    content = operation.get("requestBody", {}).get("content", {})
    return api.ask(method, *parts, body=content["application/json"]["example"] if content else None)


def test_every_operation_of_another_app_is_refused(stack: Stack):
    described = document()
    names = [name for name, (_, path, _) in operations(described).items() if "{app}" in path.split("/")]
    assert len(names) > 40 and {*OF_CLUSTER, ENDLESS} <= set(names)
    own = stack.create_app(unique("own")).id
    key = create_key(stack, app=own)
    assert set(key["scopes"]) == set(described["components"]["schemas"]["Key"]["properties"]["scopes"]["items"]["enum"])
    api = ServerAPI(stack, key["key"])
    for name in names:
        existing, missing = (is_as_described(name, asked(api, described, name, app)) for app in (stack.open_app.id, unique("nothing")))
        for answer in (existing, missing):
            assert (answer.status, answer.code) == (403, "forbidden"), f"{name}: {answer.body}"
            del answer.body["requestId"]
        # Nothing tells which of them exists.
        assert existing.body == missing.body and existing.headers.keys() == missing.headers.keys(), name
    # The app is what they are refused for: of the key's own app, the same requests are not.
    assert {name for name in names if asked(api, described, name, own).status == 403} == OF_CLUSTER
