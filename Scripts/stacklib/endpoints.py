"""`DIR/endpoints.json`: the file by which tests and other programs find the stack. Its shape is an interface."""

from . import hosts, proxies, redis_store, stores
from .record import STORE_KINDS, Member, Record, write_json
from .services import API_PORT


def write_endpoints(record: Record) -> None:
    """Writes the file; `pid` is null for members that are down.

    A server's `role` is what it was when the file was written; null when it did not answer.
    """
    bridges = record.of_kind("sip-bridge")
    others = ("gateway", *STORE_KINDS, proxies.KIND, hosts.WIRE)
    services = [member for member in record.members if member.kind not in others]
    write_json(record.endpoints_path, {
        "gateways": [
            {"name": gateway.name, "ws": websocket_url(gateway), "http": gateway.http, "pid": _pid(gateway)}
            for gateway in record.of_kind("gateway")],
        "api": [f"http://{gateway.address}:{gateway.ports[API_PORT]}" for gateway in record.of_kind("gateway")],
        "services": [{"name": member.name, "pid": _pid(member), "http": member.http} for member in services],
        "redis": _store(redis_store.url(record), [*record.of_kind("redis"), *record.of_kind("sentinel")]),
        "postgres": _store(stores.postgres_url(record), record.of_kind("postgres")),
        "apps": record.apps,
        "sip": {
            "host": bridges[0].address if bridges else "127.0.0.1", "port": bridges[0].port if bridges else None,
            "bridges": [{"name": bridge.name, "port": bridge.port, "pid": _pid(bridge)} for bridge in bridges]},
        "media": [
            {"name": node.name, "host": node.address, "port": node.port, "http": node.http, "pid": _pid(node)}
            for node in record.of_kind("media")],
        **hosts.described(record),
    })


def _store(url: str, servers: list[Member]) -> dict:
    nodes = [
        {"name": server.name, "host": server.address, "port": server.port, "pid": _pid(server), "role": stores.role(server)}
        for server in servers]
    # The process, where there is only one.
    return {"url": url, "pid": nodes[0]["pid"] if len(nodes) == 1 else None, "nodes": nodes}


def websocket_url(gateway: Member) -> str:
    return f"ws://{gateway.address}:{gateway.port}"


def _pid(member: Member) -> int | None:
    return member.identity.pid if member.identity and member.is_running else None
