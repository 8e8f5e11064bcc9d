"""The slots of a Redis Cluster in which an act's keys are (Docs/architecture.md)."""

from binascii import crc_hqx

SLOTS = 16_384
BUCKETS = 4_096
# The channels whose members are told of all logins, or of all joins, of an app.
ONLINE, CHANNEL_EVENT = "_agora_user_online", "_agora_channel_event"


def slot(text: str) -> int:
    """The slot of the keys whose tag this is."""
    return crc_hqx(text.encode(), 0) % SLOTS


def user_slot(app: str, account: str) -> int:
    bucket = crc_hqx(f"a:{app}:u:{account}".encode(), 0) % BUCKETS
    return bucket * (SLOTS // BUCKETS)


def channel_slot(app: str, channel: str) -> int:
    return slot(f"a:{app}:c:{channel}")


def of_act(app: str, act: dict) -> set[int]:
    """The slots that an act of the checker's history needs: of its user, and of those and of what it concerns."""
    users = {act["who"], *(act[name] for name in ("to", "owner", "peer") if name in act)}
    found = {user_slot(app, user) for user in users}
    if act["act"] == "set" and act["owner"] != act["who"]:
        # The owner is a channel.
        found = {user_slot(app, act["who"]), channel_slot(app, act["owner"])}
    if act["act"] in ("say", "join", "leave"):
        found = {user_slot(app, act["who"]), channel_slot(app, act["channel"])}
    if act["act"] in ("login", "logout"):
        found.add(channel_slot(app, ONLINE))
    if act["act"] in ("join", "leave"):
        found.add(channel_slot(app, CHANNEL_EVENT))
    if "call" in act:
        found.add(slot(f"a:{app}:i:{act['call']}:" + ":".join(sorted((act["who"], act["peer"])))))
    return found
