-- expand, readers_from 1
-- Dead letters are read once, not once for each webhook: where one webhook has nearly all of them, the planner read them all for every other one too.

CREATE OR REPLACE VIEW webhook_backlog AS
SELECT w.app, split_part(w.url, '?', 1) AS url, w.kinds, e.events, e.oldest, coalesce(d.dead, 0) AS dead, w.attempts, w.failing_since,
    w.last_error, w.next_attempt_at, w.delivered_at, w.name AS webhook
FROM webhooks w
CROSS JOIN LATERAL (
    SELECT count(*) AS events, min(queued_at) AS oldest FROM webhook_events q WHERE q.app = w.app AND q.webhook = w.name) e
LEFT JOIN (
    SELECT q.app, q.webhook, count(*) AS dead FROM webhook_dead q GROUP BY 1, 2) d ON d.app = w.app AND d.webhook = w.name;
