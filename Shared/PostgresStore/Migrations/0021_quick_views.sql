-- expand, readers_from 1
-- The views over large tables, with the same columns, from the numbers of 0019; and new ones. Columns that are not asked for, and
-- those of rows that a LIMIT leaves out, are not looked up: that is why they are subqueries here.

-- Channels that had attributes before 0020. Whoever changes one of them now waits for the lock, and then changes what is written here.
SELECT pg_advisory_xact_lock(x'7461732'::bigint);
INSERT INTO channel_sizes (app, channel, members)
SELECT v.app, v.channel, 0 FROM channel_attribute_versions v WHERE v.attributes > 0 ON CONFLICT DO NOTHING;

CREATE OR REPLACE VIEW channels AS
SELECT c.app, c.channel, c.members,
    (SELECT min(m.joined_at) FROM channel_members m WHERE m.app = c.app AND m.channel = c.channel AND m.present) AS oldest_join,
    coalesce((
        SELECT v.attributes FROM channel_attribute_versions v WHERE v.app = c.app AND v.channel = c.channel), 0)::bigint AS attributes,
    (SELECT v.version FROM channel_attribute_versions v WHERE v.app = c.app AND v.channel = c.channel) AS attribute_version
FROM channel_sizes c;

-- The users that `app_users` does not have yet, by app: by the index on their uids, whatever the planner thinks.
CREATE FUNCTION uncounted_users() RETURNS TABLE (app text, users bigint) LANGUAGE sql STABLE ROWS 10
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
    SELECT n.app, count(*) FROM (
        SELECT u.app FROM users u WHERE u.uid > (SELECT c.uid FROM counted_users c) ORDER BY u.uid OFFSET 0) n
    GROUP BY 1
$$;

CREATE OR REPLACE VIEW app_usage AS
SELECT a.id AS app, a.token_required, a.created_at,
    coalesce((SELECT u.users FROM app_users u WHERE u.app = a.id), 0) + coalesce(n.users, 0) AS users,
    coalesce((SELECT sum(g.sessions) FROM gateway_sessions g WHERE g.app = a.id), 0)::bigint AS users_online,
    coalesce((SELECT c.channels FROM app_channels c WHERE c.app = a.id), 0) AS channels,
    coalesce((SELECT c.members FROM app_channels c WHERE c.app = a.id), 0) AS members,
    (SELECT count(*) FROM calls c WHERE c.app = a.id AND c.started_at > now() - interval '1 day') AS calls_last_day,
    (SELECT count(*) FROM sip_numbers t WHERE t.app = a.id) AS phone_numbers
FROM apps a
LEFT JOIN uncounted_users() n ON n.app = a.id;

CREATE VIEW gateway_usage AS
SELECT g.gateway, g.app, g.sessions FROM gateway_sessions g WHERE g.sessions > 0;

CREATE VIEW logins_by_day AS
SELECT l.app, l.day, l.logins FROM app_logins l;

CREATE VIEW mirror_lag AS
SELECT m.mirror, w.written_at, w.lag, h.worst_lag AS worst_lag_of_hour, coalesce(h.rows, 0)::bigint AS rows_of_hour
FROM (VALUES ('sessions'), ('members')) AS m(mirror)
LEFT JOIN LATERAL (
    SELECT x.written_at, x.lag FROM mirror_writes x WHERE x.mirror = m.mirror ORDER BY x.minute DESC LIMIT 1) w ON true
LEFT JOIN LATERAL (
    SELECT max(x.worst_lag) AS worst_lag, sum(x.rows) AS rows FROM mirror_writes x
    WHERE x.mirror = m.mirror AND x.minute > now() - interval '1 hour') h ON true;
