"""What `Scripts/stack` says where it can't make hosts. Needs none itself."""

import os
import shutil
import subprocess

from stack_control import ROOT


# No process of the cluster's own.
STORES_ALONE = {"gateways": 0, "presence": 0, "channel_state": 0, "invitation": 0, "sip_bridge": 0}


def test_without_root_hosts_are_refused_in_one_line():
    # Root without its capabilities: another user may not be allowed to read this folder. Who runs the tests without root has none.
    prefix = [shutil.which("setpriv"), "--inh-caps=-all", "--bounding-set=-all"] if os.getuid() == 0 else []
    done = subprocess.run(
        [*prefix, str(ROOT / "Scripts" / "stack"), "check-hosts"], capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1 and not done.stdout
    line, = done.stderr.splitlines()
    assert line.startswith("stack: --hosts needs root, network namespaces and /dev/net/tun: ")


def test_without_hosts_there_is_no_wire(make_stack):
    stack = make_stack("--redis", "single", **STORES_ALONE)
    assert "hosts" not in stack.endpoints
    for command in (("delay", "redis", "5"), ("loss", "redis", "5"), ("partition", "redis", "--to", "postgres")):
        assert "start it with `up --hosts`" in stack.run(*command, check=False).stderr
    assert "does not go with --proxies" in stack.run("up", "--hosts", "--proxies", check=False).stderr
