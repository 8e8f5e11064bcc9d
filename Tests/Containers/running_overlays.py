"""The stack in containers with each overlay: it comes up and serves. Run by Scripts/test-containers."""

import asyncio

import pytest
from project import running
from users import login, start, talk
from waiting import eventually


@pytest.mark.parametrize("overlay", ["standby", "redis-cluster"])
async def test_overlays_serve(overlay: str):
    with running(overlay) as other:
        await asyncio.to_thread(start, other)
        first, second = await login("first"), await login("second")
        await talk(first, second)
        if overlay == "standby":
            standby = other.ids("postgres-standby")[0]
            query = ("psql", "-h", "127.0.0.1", "-U", "heliograph", "-d", "heliograph", "-Atc")
            assert other.execute(standby, *query, "SELECT pg_is_in_recovery()").strip() == "t"
            await eventually(lambda: asyncio.to_thread(
                lambda: other.execute(standby, *query, "SELECT count(*) FROM apps").strip() == "1"), "the standby has the app", 20)
        else:
            nodes = other.execute(
                other.ids("redis")[0], "sh", "-c", "REDISCLI_AUTH=$(cat /run/secrets/redis-password) redis-cli cluster nodes")
            assert nodes.count("master") == nodes.count("slave") == 3
        await first.close()
        await second.close()
