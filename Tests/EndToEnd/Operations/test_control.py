"""What heliographctl prints for scripts with `--json`: one compact object on one line, its names in order."""

import json
import re
from collections.abc import Callable

import pytest
from stack_control import BINARIES, Stack, run_program, unique

CONTROL = str(BINARIES / "heliographctl")

LIMITS = (
    '"actsPerSecond":50,"appId":"APP","attributeChangesPerSecond":20,{certificate}"channelAttributeChangesPerSecond":200,'
    '"channelMessagesPerSecond":200,"createdAt":TIME,"mailboxBytes":16777216,"mailboxEntries":10000,'
    '"messageEvents":"{messages}","messagesPerSecond":{rate},"specialChannels":"{special}","tokenRequired":true')


def app_text(rate: int = 60, special: str = "open", certificate: str = "", messages: str = "none") -> str:
    shown = f'"certificate":"{certificate}",' if certificate else ""
    return "{" + LIMITS.format(certificate=shown, rate=rate, special=special, messages=messages) + "}"


def scripted(stack: Stack) -> Callable[..., str]:
    """Runs heliographctl with `--json`; its line, with TIME for each time."""
    def run(*arguments: str) -> str:
        line, = stack.control(*arguments, "--json").splitlines()
        return re.sub(r'("(?:createdAt|updatedAt|expiry|since)"):\d+', r"\1:TIME", line)

    return run


@pytest.mark.single_redis("says what the commands tell of a single server; of several: test_all_commands_work_with_any_redis")
def test_json(make_stack):
    # Without a bridge, which would tell of the trunk's registration.
    stack = make_stack(gateways=1, sip_bridge=0)
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
    told = control("app", "limit", "APP", "--message-events=with-text")
    assert told == app_text(rate=7, special="closed", messages="with-text")
    assert control("app", "limit", "APP", "--message-events=none") == changed
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
        '"registrations":[],"ringSeconds":30,"srtp":"off","trace":false,"transport":"tls","updatedAt":TIME,"user":"u","userCalls":10,'
        '"userCallsPerMinute":30}')
    assert control("trunk", "show", "APP", "--show-secret") == trunk.replace('"srtp"', '"secret":"s","srtp"')
    assert control("trunk", "list") == f'{{"trunks":[{trunk}]}}'
    assert control("trunk", "remove", "APP") == '{"removed":"APP"}'

    # Tokens, users and the cluster.
    token = json.loads(control("token", "mint", "--app=APP", "--account=anna").replace("TIME", "0"))
    assert list(token) == ["account", "appId", "expiry", "token"] and token["account"] == "anna"
    assert control("user", "disconnect", "--app=APP", "--account=anna") == '{"disconnected":"anna"}'
    assert control("app", "remove", "APP") == '{"removed":"APP"}'
    assert control("migrate") == '{"advice":[],"applied":[],"waiting":[]}'
    versions = json.loads(control("versions").replace("TIME", "0"))
    assert list(versions) == ["clusterLevel", "heldBackBy", "instances", "level"]
    assert {tuple(each) for each in versions["instances"]} == {("host", "id", "kind", "level", "since", "version")}
    status = json.loads(control("cluster", "status"))
    assert list(status) == ["advice", "flavour", "sentinels", "servers", "silent", "uncoveredSlots", "wrong"]
    assert status["flavour"] == "single" and status["wrong"] == [] and len(status["servers"]) == 1
    assert control("cluster", "reshard-check") == '{"flavour":"single","obstacles":[]}'
    assert json.loads(control("doctor"))["wrong"] == []
    sick = control_of(stack.endpoints["redis"]["url"], "doctor", HELIOGRAPH_POSTGRES_URL="postgresql://nobody@127.0.0.1:1/none")
    assert sick.returncode == 1 and sick.stdout.startswith("wrong: PostgreSQL: ")


def control_of(url: str, *arguments: str, **settings: str):
    """Runs heliographctl for the Redis at `url`."""
    return run_program(CONTROL, *arguments, HELIOGRAPH_REDIS_URL=url, **settings)


@pytest.mark.parametrize("flavour", ["cluster", "sentinel"])
def test_all_commands_work_with_any_redis(make_stack, flavour: str):
    stack = make_stack("--redis", flavour, gateways=1, presence=1, channel_state=1, invitation=1, sip_bridge=0)
    kinds = {line.split()[0] for line in stack.control("versions").splitlines() if "  level " in line}
    assert kinds == {"gateway", "presence", "channel-state", "invitation"}
    assert stack.control("user", "disconnect", f"--app={stack.open_app.id}", "--account=anna")
    status = stack.control("cluster", "status")
    lines = status.splitlines()
    assert not [line for line in lines if line.startswith("wrong:")], status
    masters = [line for line in lines if "  master  " in line]
    if flavour == "cluster":
        assert lines[0] == "Redis is a cluster; masters 3, replicas 3"
        assert [re.search(r"slots (\S+) \(\d+\), partitions (\S+)", line).groups() for line in masters] == [
            ("0-5460", "0-7"), ("5461-10921", "8-15"), ("10922-16383", "16-23")]
        assert all(re.search(r"commands/s  CPU \d+\.\d %", line) and "libraries" in line for line in masters)
    else:
        assert lines[0] == "Redis is one master, watched by Sentinels; Sentinels 3, replicas 1"
        assert len(masters) == 1 and len([line for line in lines if "  Sentinel  says " in line]) == 3
    assert len([line for line in lines if re.search(r"  replica  \d+ bytes behind, heard of its master \d+ s ago", line)]) == len(masters)
    check = stack.control("cluster", "reshard-check")
    assert check == ("nothing stands against moving slots\n" if flavour == "cluster"
                     else "Redis is one master, watched by Sentinels: there are no slots to move\n")

    # A large channel must not be moved: doctor lists it, and reshard-check exits with 1.
    script = "for i = 1, 50001 do redis.call('ZADD', KEYS[1], i, i) end"
    stack.redis("EVAL", script, "1", "{a:APP:c:all}:members")
    words = "the channel all of APP has 50001 members"
    assert words in stack.control("doctor")
    url = stack.endpoints["redis"]["url"]
    if flavour == "cluster":
        refused = control_of(url, "cluster", "reshard-check")
        assert refused.returncode == 1 and words in refused.stdout
        # A master that is away.
        stack.kill("redis#2")
        broken = control_of(url, "cluster", "status", "--json")
        report = json.loads(broken.stdout)
        assert broken.returncode == 1 and len(report["silent"]) == 1 and report["wrong"] and len(report["servers"]) == 5
        lines = control_of(url, "cluster", "status").stdout.splitlines()
        assert len([line for line in lines if re.search("  (master|replica)  |  replica of a master ", line)]) == 5


def test_a_redis_that_is_run_otherwise_is_refused_in_one_line(make_stack):
    stack = make_stack("--redis", "cluster", "--redis-replicas", "0", gateways=0, presence=0, channel_state=0, invitation=0, sip_bridge=0)
    node = stack.endpoints["redis"]["nodes"][0]
    address = f"{node['host']}:{node['port']}"
    for command in (["versions"], ["user", "disconnect", "--app=a", "--account=b"], ["cluster", "status"], ["cluster", "reshard-check"], ["doctor"]):
        for url, reason in [(f"redis://{address}", "is a node of a Redis Cluster"), (f"redis+sentinel://{address}/main", "is not a Sentinel")]:
            refused = control_of(url, *command)
            assert (refused.returncode, refused.stdout) == (78, "") and reason in refused.stderr
            assert refused.stderr.startswith("heliographctl: ") and refused.stderr.count("\n") == 1
    wrong = control_of("redis+cluster://127.0.0.1:1", "cluster", "status")
    assert wrong.returncode == 69 and wrong.stderr.count("\n") == 1


@pytest.mark.parametrize(("command", "words"), [
    ("app limit a --messages-per-second=0", "--messages-per-second must be 1...1000000; it is 0"),
    ("app limit a --mailbox-bytes=1073741825", "--mailbox-bytes must be 65536...1073741824; it is 1073741825"),
    ("app limit a --message-events=all", "--message-events"),
    ("app create --certificate=" + "x" * 129, "--certificate"),
    ("webhook set a http://b/ --batch=1001", "--batch must be 1...1000; it is 1001"),
    ("webhook set a http://b/ --message-text --kinds join", "--message-text needs message among the kinds"),
    ("trunk set a b --ring=3601", "--ring must be 1...3600; it is 3601"),
    ("trunk set a b:65536", "65536"),
    ("trunk set a --user=u --no-user", "give --user or --no-user"),
    ("trunk set a --from-domain=d --no-from-domain", "give --from-domain or --no-from-domain"),
    ("trunk set a --allow=1 --no-allow", "give --allow or --no-allow"),
    ("trunk set a --caller-id=1 --no-caller-id", "give --caller-id or --no-caller-id"),
    ("trunk set a --asserted-identity=a --no-asserted-identity", "give --asserted-identity or --no-asserted-identity"),
    ("trunk set a --privacy=id --no-privacy", "give --privacy or --no-privacy"),
    ("trunk set a b --user=" + "u" * 129, "--user must have 1 to 128 bytes and no control characters"),
    ("trunk set a b --privacy=<id>", "--privacy must have 1 to 128 visible characters other than <>"),
    ("trunk set a b --allow=any --allow=+49", "--allow must have any and none alone"),
    ("trunk set a b --caller-id=" + "1" * 33, "--caller-id must have entries of 1 to 32 visible ASCII characters"),
    ("trunk set a b " + "--allow=1 " * 201, "--allow must have at most 200 entries; it is a list of 201"),
    ("trunk set a b --user-calls-per-minute=10001", "--user-calls-per-minute must be 0...10000; it is 10001"),
    ("trunk set a b --longest-call=43201", "--longest-call must be 1...43200; it is 43201"),
    ("number set +1+" + "1" * 64 + " --app=a --account=b", "number"),
], ids=lambda value: value[:40])
def test_options_have_the_bounds_of_files(command: str, words: str):
    done = run_program(CONTROL, *command.split())
    assert done.returncode == 64 and words in done.stderr, done.stderr


def test_what_options_of_a_trunk_need(stack: Stack):
    app = stack.create_app(unique("app")).id
    for options, words in [
        (["x", "--user=u"], "--user needs the secret too"), (["x", "--secret=s"], "--secret needs the user too"),
        (["x", "--register"], "--register needs the user and the secret"),
        (["x", "--accept-digest"], "--accept-digest needs the user and the secret"),
        (["x"], "--allow is needed, because the app takes logins without a token"),
        (["--allow=any"], "HOST is needed for a new trunk"),
    ]:
        url = stack.endpoints["postgres"]["url"]
        done = run_program(CONTROL, "trunk", "set", app, *options, HELIOGRAPH_POSTGRES_URL=url)
        assert done.returncode == 64 and words in done.stderr, done.stderr
