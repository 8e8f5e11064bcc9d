"""`DIR/endpoints.json`: the file by which tests and other programs find the stack. Its shape is an interface."""

from . import proxies, stores
from .record import STORES, Member, Record, write_json


def write_endpoints(record: Record) -> None:
    """Writes the file; `pid` is null for members that are down."""
    bridges = record.of_kind("sip-bridge")
    redis, postgres = (record.member(name) for name in STORES)
    others = ("gateway", *STORES, proxies.KIND)
    services = [member for member in record.members if member.kind not in others]
    write_json(record.endpoints_path, {
        "gateways": [
            {"name": gateway.name, "ws": websocket_url(gateway), "http": gateway.http, "pid": _pid(gateway)}
            for gateway in record.of_kind("gateway")],
        "services": [{"name": member.name, "pid": _pid(member), "http": member.http} for member in services],
        "redis": {"url": stores.redis_url(redis.port), "pid": _pid(redis)},
        "postgres": {"url": stores.postgres_url(postgres.port), "pid": _pid(postgres)},
        "apps": record.apps,
        "sip": {
            "host": "127.0.0.1", "port": bridges[0].port if bridges else None,
            "bridges": [{"name": bridge.name, "port": bridge.port, "pid": _pid(bridge)} for bridge in bridges]},
    })


def websocket_url(gateway: Member) -> str:
    return f"ws://127.0.0.1:{gateway.port}"


def _pid(member: Member) -> int | None:
    return member.identity.pid if member.identity and member.is_running else None
