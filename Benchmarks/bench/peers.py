"""Servers that users could choose instead of Heliograph, from Debian's packages. Configured for speed: no storage, limits or logs."""

import shutil
from pathlib import Path

from .network import room
from .paths import BenchError, tool
from .servers import Program, write



class Redis(Program):
    """Pub/sub."""

    name = driver = "redis"

    def command(self) -> list[str]:
        return [
            tool("redis-server"), "--bind", "127.0.0.1", "--port", str(self.ports[0]), "--dir", str(self.directory),
            "--save", "", "--appendonly", "no", "--maxclients", str(room()),
            "--client-output-buffer-limit", "pubsub 0 0 0"]


class Mosquitto(Program):
    """MQTT 3.1.1, quality of service 0."""

    name = "mosquitto"
    driver = "mqtt"

    def command(self) -> list[str]:
        configuration = write(self.directory / "mosquitto.conf", f"""
listener {self.ports[0]} 127.0.0.1
allow_anonymous true
persistence false
log_type error
max_queued_messages 0
set_tcp_nodelay true
""")
        return [tool("mosquitto"), "-c", str(configuration)]


class Nats(Program):
    """Core NATS."""

    name = driver = "nats"

    def command(self) -> list[str]:
        configuration = write(self.directory / "nats.conf", f"""
listen: "127.0.0.1:{self.ports[0]}"
max_connections: {room()}
max_pending: 1GB
write_deadline: "30s"
""")
        return [tool("nats-server"), "-c", str(configuration)]


class Nchan(Program):
    """nginx with nchan, WebSockets."""

    name = driver = "nchan"

    def command(self) -> list[str]:
        module = Path("/usr/lib/nginx/modules/ngx_nchan_module.so")
        if not module.exists():
            raise BenchError("nchan is not installed (run Scripts/install-bench-dependencies)")
        places = "\n".join(f"{kind}_temp_path {self.directory};" for kind in (
            "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        configuration = write(self.directory / "nginx.conf", f"""
load_module {module};
daemon off;
master_process off;
worker_rlimit_nofile 20000;
pid {self.directory}/nginx.pid;
error_log {self.directory}/error.log error;
events {{ worker_connections {room()}; }}
http {{
    access_log off;
    {places}
    nchan_message_buffer_length 0;
    nchan_shared_memory_size 512M;
    server {{
        listen 127.0.0.1:{self.ports[0]};
        location ~ ^/sub/(\\S+)$ {{ nchan_subscriber websocket; nchan_channel_id $1; }}
        location ~ ^/pub/(\\S+)$ {{ nchan_publisher websocket; nchan_channel_id $1; }}
        location ~ ^/pair/([^/]+)/([^/]+)$ {{
            nchan_pubsub websocket;
            nchan_subscriber_channel_id $1;
            nchan_publisher_channel_id $2;
        }}
    }}
}}
""")
        return [tool("nginx"), "-c", str(configuration), "-p", str(self.directory)]


class Ejabberd(Program):
    """A multi-user chat room, XMPP over plain TCP, anonymous users."""

    name = "ejabberd"
    driver = "xmpp"
    members_speak = True

    def command(self) -> list[str]:
        room = "\n".join(f"        {option}" for option in (
            "max_users: 20000", "presence_broadcast: []", "logging: false", "persistent: false"))
        configuration = write(self.directory / "ejabberd.yml", f"""
hosts: [localhost]
loglevel: error
listen:
  - port: {self.ports[0]}
    ip: "127.0.0.1"
    module: ejabberd_c2s
    backlog: 4096
    shaper: none
host_config:
  localhost:
    auth_method: [anonymous]
    anonymous_protocol: both
    allow_multiple_connections: true
shaper_rules:
  max_user_sessions: 100000
modules:
  mod_muc:
    history_size: 0
    max_users: 20000
    max_users_presence: 0
    default_room_options:
{room}
""")
        libraries = sorted(Path("/usr/lib").glob("*/ejabberd-*/ebin"))
        erl = shutil.which("erl")
        if not libraries or not erl:
            raise BenchError("ejabberd is not installed (run Scripts/install-bench-dependencies)")
        environment = {
            "ERL_LIBS": str(libraries[-1].parents[1]), "EJABBERD_CONFIG_PATH": str(configuration),
            "EJABBERD_LOG_PATH": str(self.directory / "ejabberd.log"), "ERL_MAX_PORTS": "32000",
            "HOME": str(self.directory)}
        return [
            "env", *(f"{name}={value}" for name, value in environment.items()),
            erl, "+K", "true", "+P", "250000", "+S", "1", "-noinput", "-mnesia", "dir", f'"{self.directory}/database"', "-s", "ejabberd"]

    def stop(self) -> None:
        super().stop()
        shutil.rmtree(self.directory / "database", ignore_errors=True)


PEERS = {peer.name: peer for peer in (Redis, Mosquitto, Nats, Nchan, Ejabberd)}
