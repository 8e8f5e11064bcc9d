"""What heliographctl prints for scripts with `--json`: one compact object on one line, its names in order."""

import json
import re
from collections.abc import Callable

from stack_control import Stack

LIMITS = (
    '"actsPerSecond":50,"appId":"APP","attributeChangesPerSecond":20,{certificate}"channelAttributeChangesPerSecond":200,'
    '"channelMessagesPerSecond":200,"createdAt":TIME,"mailboxBytes":16777216,"mailboxEntries":10000,'
    '"messagesPerSecond":{rate},"specialChannels":"{special}","tokenRequired":true')


def app_text(rate: int = 60, special: str = "open", certificate: str = "") -> str:
    shown = f'"certificate":"{certificate}",' if certificate else ""
    return "{" + LIMITS.format(certificate=shown, rate=rate, special=special) + "}"


def scripted(stack: Stack) -> Callable[..., str]:
    """Runs heliographctl with `--json`; its line, with TIME for each time."""
    def run(*arguments: str) -> str:
        line, = stack.control(*arguments, "--json").splitlines()
        return re.sub(r'("(?:createdAt|updatedAt|expiry|since)"):\d+', r"\1:TIME", line)

    return run


def test_json(make_stack):
    stack = make_stack(gateways=1)
    control = scripted(stack)

    # Apps. The certificate is printed as JSON text: quotation marks and backslashes are escaped, slashes are not.
    secret = r'a/b"c\d'
    shown = secret.replace("\\", "\\\\").replace('"', '\\"')
    assert control("app", "create", "--id=APP", f"--certificate={secret}") == app_text(certificate=shown)
    assert app_text() in control("app", "list")
    assert control("app", "list").startswith('{"apps":[{')
    assert app_text(certificate=shown) in control("app", "list", "--show-certificates")
    changed = control("app", "limit", "APP", "--messages-per-second=7", "--special-channels=closed")
    assert changed == app_text(rate=7, special="closed")
    assert control("app", "rotate", "APP", "--certificate=new") == app_text(7, "closed", "new")

    # Numbers and trunks.
    number = '{"account":"élan","appId":"APP","createdAt":TIME,"number":"+4930"}'
    assert control("number", "list", "--app=APP") == '{"numbers":[]}'
    assert control("number", "set", "+4930", "--app=APP", "--account=élan") == number
    assert control("number", "list", "--app=APP") == f'{{"numbers":[{number}]}}'
    assert control("number", "remove", "+4930") == '{"removed":"+4930"}'
    trunk = control(
        "trunk", "set", "APP", "sip.example.org", "--transport=tls", "--user=u", "--secret=s", "--allow=+49",
        "--allow=+43", "--register", "--ring=30", "--privacy=id")
    assert trunk == (
        '{"acceptDigest":false,"allow":["+49","+43"],"appCalls":100,"appCallsPerMinute":1000,"appId":"APP","callerId":[],'
        '"dtmf":"auto","host":"sip.example.org","longestCall":14400,"port":5061,"privacy":"id","register":true,'
        '"ringSeconds":30,"srtp":"off","trace":false,"transport":"tls","updatedAt":TIME,"user":"u","userCalls":10,'
        '"userCallsPerMinute":30}')
    assert control("trunk", "show", "APP", "--show-secret") == trunk.replace('"srtp"', '"secret":"s","srtp"')
    assert control("trunk", "list") == f'{{"trunks":[{trunk}]}}'
    assert control("trunk", "remove", "APP") == '{"removed":"APP"}'

    # Tokens, users and the cluster.
    token = json.loads(control("token", "mint", "--app=APP", "--account=anna").replace("TIME", "0"))
    assert list(token) == ["account", "appId", "expiry", "token"] and token["account"] == "anna"
    assert control("user", "disconnect", "--app=APP", "--account=anna") == '{"disconnected":"anna"}'
    assert control("app", "remove", "APP") == '{"removed":"APP"}'
    assert control("migrate") == '{"applied":[],"waiting":[]}'
    versions = json.loads(control("versions").replace("TIME", "0"))
    assert list(versions) == ["clusterLevel", "heldBackBy", "instances", "level"]
    assert {tuple(each) for each in versions["instances"]} == {("host", "id", "kind", "level", "since", "version")}
