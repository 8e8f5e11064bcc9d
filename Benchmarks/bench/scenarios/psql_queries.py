"""What operators ask each view, by the view's name: a line of text and the statement.

APP, ACCOUNT and so on are replaced by names that the data have: the largest app, its largest channel, a busy user of it, a user who made one
call, the gateway with fewest sessions.
"""

NAMES = {
    "APP": "SELECT app FROM channels ORDER BY members DESC LIMIT 1",
    "CHANNEL": "SELECT channel FROM channels ORDER BY members DESC LIMIT 1",
    "ACCOUNT": "SELECT caller FROM call_log WHERE app = 'APP' GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1",
    "QUIET": "SELECT caller FROM call_log WHERE app = 'APP' GROUP BY 1 ORDER BY count(*), min(started_at), 1 LIMIT 1",
    "CALL": "SELECT id FROM call_log WHERE app = 'APP' ORDER BY started_at LIMIT 1",
    "PHONE": "SELECT number FROM call_log WHERE app = 'APP' AND direction = 'outbound' GROUP BY 1 ORDER BY count(*), 1 LIMIT 1",
    "GATEWAY": "SELECT gateway FROM gateway_usage GROUP BY 1 ORDER BY sum(sessions), 1 LIMIT 1",
    "LETTER": "SELECT id FROM webhook_dead_letters WHERE app = 'app0' ORDER BY died_at LIMIT 1",
    "NAME": "SELECT 'topic1'",
}



def _calls_of(name: str) -> str:
    return f"SELECT * FROM call_log WHERE app = 'APP' AND (caller = '{name}' OR callee = '{name}') ORDER BY started_at DESC LIMIT 100"


QUERIES = {
    "online_users": {
        "a user": "SELECT * FROM online_users WHERE app = 'APP' AND account = 'ACCOUNT'",
        "a page of an app": "SELECT * FROM online_users WHERE app = 'APP' AND account > 'ACCOUNT' ORDER BY account LIMIT 100",
        "names that begin alike": "SELECT * FROM online_users WHERE app = 'APP' AND account LIKE 'user1%' ORDER BY account LIMIT 100",
        "users of a gateway": "SELECT * FROM online_users WHERE gateway = 'GATEWAY' ORDER BY app, account LIMIT 100",
        "how many, by app": "SELECT app, sum(sessions) FROM gateway_usage GROUP BY 1 ORDER BY 2 DESC",
    },
    "audit_trail": {
        "the latest of all": "SELECT * FROM audit_trail ORDER BY at DESC, id DESC LIMIT 100",
        "the latest of an app": "SELECT * FROM audit_trail WHERE app = 'APP' ORDER BY at DESC, id DESC LIMIT 100",
        "those of a day": "SELECT * FROM audit_trail WHERE at > now() - interval '1 day' ORDER BY at DESC, id DESC LIMIT 100",
    },
    "channel_member_list": {
        "channels of a user": "SELECT * FROM channel_member_list WHERE app = 'APP' AND account = 'ACCOUNT'",
        "a page of a channel": "SELECT * FROM channel_member_list WHERE app = 'APP' AND channel = 'CHANNEL' ORDER BY account LIMIT 100",
        "who joined last": "SELECT * FROM channel_member_list WHERE app = 'APP' AND channel = 'CHANNEL' ORDER BY joined_at DESC LIMIT 100",
        "how many": "SELECT count(*) FROM channel_member_list WHERE app = 'APP' AND channel = 'CHANNEL'",
    },
    "channels": {
        "a channel": "SELECT * FROM channels WHERE app = 'APP' AND channel = 'CHANNEL'",
        "the largest": "SELECT * FROM channels ORDER BY members DESC LIMIT 20",
        "the largest of an app": "SELECT * FROM channels WHERE app = 'APP' ORDER BY members DESC LIMIT 20",
        "a page of an app": "SELECT * FROM channels WHERE app = 'APP' AND channel > 'room2' ORDER BY channel LIMIT 100",
        "names that begin alike": "SELECT * FROM channels WHERE app = 'APP' AND channel LIKE 'room1%' ORDER BY channel LIMIT 100",
        "how many": "SELECT count(*) FROM channels WHERE app = 'APP'",
    },
    "call_log": {
        "a call": "SELECT * FROM call_log WHERE app = 'APP' AND id = 'CALL'",
        "the latest": "SELECT * FROM call_log ORDER BY started_at DESC LIMIT 100",
        "the latest of an app": "SELECT * FROM call_log WHERE app = 'APP' ORDER BY started_at DESC LIMIT 100",
        "the latest of a busy user": _calls_of("ACCOUNT"),
        "the latest of a quiet user": _calls_of("QUIET"),
        "with a telephone": _calls_of("PHONE"),
        "in progress": "SELECT * FROM call_log WHERE ended_at IS NULL ORDER BY started_at LIMIT 100",
        "how many in a day": "SELECT count(*) FROM call_log WHERE app = 'APP' AND started_at > now() - interval '1 day'",
    },
    "call_months": {"all": "SELECT * FROM call_months ORDER BY since"},
    "app_usage": {
        "all apps": "SELECT * FROM app_usage ORDER BY users_online DESC",
        "an app": "SELECT * FROM app_usage WHERE app = 'APP'",
    },
    "gateway_usage": {
        "all gateways": "SELECT gateway, sum(sessions) FROM gateway_usage GROUP BY 1 ORDER BY 2 DESC",
        "an app": "SELECT * FROM gateway_usage WHERE app = 'APP' ORDER BY sessions DESC",
    },
    "logins_by_day": {
        "an app": "SELECT * FROM logins_by_day WHERE app = 'APP' ORDER BY day DESC LIMIT 100",
        "all apps": "SELECT day, sum(logins) FROM logins_by_day GROUP BY 1 ORDER BY 1 DESC LIMIT 400",
    },
    "usage_by_day": {
        "an app": "SELECT * FROM usage_by_day WHERE app = 'APP' ORDER BY day DESC LIMIT 100",
        "a month of all apps": "SELECT app, sum(messages) FROM usage_by_day WHERE day > current_date - 31 GROUP BY 1 ORDER BY 2 DESC LIMIT 100",
    },
    "mirror_lag": {"all": "SELECT * FROM mirror_lag"},
    "histories": {"all": "SELECT * FROM histories"},
    "history_parts": {"a history": "SELECT * FROM history_parts WHERE history = 'attributes' ORDER BY since"},
    "webhook_backlog": {
        "all apps": "SELECT * FROM webhook_backlog ORDER BY events DESC",
        "an app": "SELECT * FROM webhook_backlog WHERE app = 'app0'",
    },
    # Migration 0034 brings it.
    "webhook_deliveries": {
        "the latest of an app": "SELECT * FROM webhook_deliveries WHERE app = 'app0' ORDER BY id DESC LIMIT 100",
        "those that failed": "SELECT * FROM webhook_deliveries WHERE app = 'app0' AND error IS NOT NULL ORDER BY id DESC LIMIT 100",
        "how long they take": "SELECT app, count(*), max(duration_ms) FROM webhook_deliveries GROUP BY app ORDER BY app",
    },
    "webhook_dead_letters": {
        "the latest of an app": "SELECT * FROM webhook_dead_letters WHERE app = 'app0' ORDER BY died_at DESC LIMIT 100",
        "a letter": "SELECT * FROM webhook_dead_letters WHERE app = 'app0' AND id = 'LETTER'",
        "why": "SELECT kind, error, count(*) FROM webhook_dead_letters WHERE app = 'app0' GROUP BY 1, 2 ORDER BY 3 DESC",
    },
    # Migration 0037 brings it.
    "trunk_registrations": {
        "all": "SELECT * FROM trunk_registrations ORDER BY app, bridge",
        "those that fail": "SELECT * FROM trunk_registrations WHERE state <> 'registered' ORDER BY app, bridge",
        "an app": "SELECT * FROM trunk_registrations WHERE app = 'app0'",
    },
    # Migration 0036 brings it.
    "banned_networks": {
        "all": "SELECT * FROM banned_networks ORDER BY network",
        "an address": "SELECT * FROM banned_networks WHERE network >>= '203.0.113.7'",
    },
    # Migration 0026 brings it.
    "bans": {
        "an app": "SELECT * FROM bans WHERE app = 'APP' ORDER BY account LIMIT 100",
        "a user": "SELECT * FROM bans WHERE app = 'APP' AND account = 'user2'",
    },
}
