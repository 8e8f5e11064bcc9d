-- What operators look into, with the shapes of a real cluster; sizes are the variables users, channels and calls of psql. The same at
-- every run, but for the times.
--
-- One of 20 apps has half of everything, the next a tenth. Every user is online, in one channel; the largest of 100,000 channels has 1 %
-- of all users (10,000 of a million), the hundredth 250, most have four to ten. Of 20 gateways one is drained and has a few left. Calls
-- are those of 30 days, and some users make a thousand times as many as others; receivers of webhooks have been failing for hours.

CREATE FUNCTION pg_temp.app_of(channel bigint, channels bigint) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$ SELECT 'app' || floor(20 * power((channel * 7919 % channels)::float8 / channels, 4)) $$;
CREATE TEMP TABLE people AS
SELECT p.g, pg_temp.app_of(p.channel, :channels) AS app, 'user' || p.g AS account, p.g AS uid, p.channel,
    CASE WHEN p.g % 20000 = 77 THEN 'gateway-drained' ELSE 'gateway-' || (p.g % 19) END AS gateway,
    now() - (p.g * 7919 % 86400) * interval '1 s' AS since
FROM (
    SELECT g, floor(:channels * power((g - 1)::float8 / :users, 2.5))::bigint AS channel FROM generate_series(1, :users::bigint) g) p;
ANALYZE people;

INSERT INTO apps (id, certificate) SELECT 'app' || g, md5(g::text) FROM generate_series(0, 19) g;
INSERT INTO users (app, account, uid, first_seen, last_seen) SELECT app, account, uid, since - interval '3 days', since FROM people ORDER BY g;
-- A user who has just come for the first time, and some who have not come for a long time.
UPDATE users SET first_seen = now() WHERE uid = :users;
UPDATE users SET last_seen = now() - interval '60 days' WHERE uid % 100000 = 990;
SELECT setval('user_uids', :users + 1);
-- As the invitation service does from time to time; a batch of sessions counts 10,000 new users at most.
SELECT count_new_users(1);
INSERT INTO presence_sessions (app, account, present, version, uid, session, gateway, device, detached, since)
SELECT app, account, true, g, uid, md5(g::text), gateway, CASE g % 3 WHEN 0 THEN 'web' ELSE 'phone' END, g % 50 = 0, since FROM people ORDER BY since;
INSERT INTO channel_members (app, channel, account, present, version, uid, joined_at)
SELECT app, 'room' || channel, account, true, g, uid, since + interval '1 minute' FROM people ORDER BY since;

-- Every channel has two attributes, and one channel more has nobody in it; every user has one.
INSERT INTO channel_attribute_versions (app, channel, version, attributes, bytes)
SELECT pg_temp.app_of(g, :channels), 'room' || g, 1700000000000, 2, 40 FROM generate_series(0, :channels::bigint) g;
INSERT INTO channel_attributes (app, channel, name, value, version, updated_by)
SELECT pg_temp.app_of(g, :channels), 'room' || g, 'topic' || n, 'value', 1, 'user1'
FROM generate_series(0, :channels::bigint) g, generate_series(1, 2) n;
INSERT INTO user_attribute_versions (app, account, version, attributes, bytes) SELECT app, account, 1700000000000, 1, 20 FROM people;
INSERT INTO user_attributes (app, account, name, value, version) SELECT app, account, 'name', 'value', 1 FROM people;

-- One call in four is with a telephone, one in five fails; the latest thousandth goes on.
INSERT INTO calls (app, id, channel, caller, callee, kind, direction, started_at, acknowledged_at, accepted_at, ended_at, end_code,
    sip_status, sip_reason)
SELECT p.app, 'call' || c.g, 'room' || p.channel, p.account, CASE c.g % 4 WHEN 0 THEN '+4930' || c.g % 5000 ELSE 'user' || (p.g % :users + 1) END,
    CASE c.g % 4 WHEN 0 THEN 'phone' ELSE 'user' END, CASE c.g % 4 WHEN 0 THEN 'outbound' ELSE 'internal' END, c.at, c.at,
    CASE WHEN c.g % 5 > 0 THEN c.at + interval '5 s' END, CASE WHEN c.g > :calls / 1000 THEN c.at + interval '65 s' END,
    CASE WHEN c.g <= :calls / 1000 THEN NULL WHEN c.g % 5 = 0 THEN 704 ELSE 0 END,
    CASE WHEN c.g % 4 = 0 THEN CASE WHEN c.g % 5 = 0 THEN 486 ELSE 200 END END,
    CASE WHEN c.g % 4 = 0 THEN CASE WHEN c.g % 5 = 0 THEN 'Busy Here' ELSE 'OK' END END
FROM (
    SELECT g, now() - g * (interval '30 days' / :calls) AS at, 1 + floor(:users * power((g * 7919 % :calls)::float8 / :calls, 2))::bigint AS caller
    FROM generate_series(1, :calls::bigint) g) c
JOIN people p ON p.g = c.caller;
INSERT INTO sip_trunks (app, host, port, register, auth_user, secret)
SELECT 'app' || g, 'trunk' || g || '.example', 5060, true, 'u', 's' FROM generate_series(0, 3) g;

-- Logins of the days before; those of today and yesterday were counted as the sessions were written.
INSERT INTO app_logins (app, day, logins) SELECT 'app' || a, current_date - d, 1000 * d
FROM generate_series(0, 19) a, generate_series(2, 400) d ON CONFLICT DO NOTHING;
INSERT INTO waiting_mail (app, account, messages) SELECT app, account, 1 + g % 1000 FROM people WHERE g % 10 = 0;
-- Some 10,000 events wait for most receivers together, and as many as a tenth of the users for the one that fails.
INSERT INTO webhooks (app, url, secret, kinds, attempts, failing_since, last_error)
SELECT 'app' || g, 'https://app' || g || '.example/hook', 'secret-of-the-benchmark', '{online,offline}', 100, now() - interval '6 h', 'status 503'
FROM generate_series(0, 4) g;
INSERT INTO webhook_events (app, at, id, kind, body, queued_at)
SELECT CASE WHEN g % 20 > 0 THEN 'app0' ELSE 'app' || (1 + g % 4) END, 1700000000000000 + g, md5(g::text), 'online', '{"account":"user' || g || '"}',
    now() - g * interval '0.1 s'
FROM generate_series(1, :users / 10) g;
INSERT INTO webhook_dead (app, at, id, kind, body, queued_at, died_at, error)
SELECT 'app0', 1600000000000000 + g, md5(g::text), CASE g % 2 WHEN 0 THEN 'online' ELSE 'join' END, '{"account":"user' || g || '"}',
    now() - interval '1 day', now() - g * interval '0.1 s', CASE g % 3 WHEN 0 THEN 'timeout' ELSE 'status 503' END
FROM generate_series(1, :users / 10) g;
DO $$ BEGIN
    -- Migration 0026 makes it.
    IF to_regclass('user_bans') IS NOT NULL THEN
        INSERT INTO user_bans (app, account, until, version) SELECT 'app0', 'user' || g, now() + interval '1 day', g FROM generate_series(1, 10000) g;
    END IF;
END $$;
DO $$ BEGIN
    -- Migration 0037 makes it.
    IF to_regclass('sip_registrations') IS NOT NULL THEN
        INSERT INTO sip_registrations (app, bridge, state, status, ends_at)
        SELECT 'app' || a, 'bridge' || b, CASE WHEN a + b = 0 THEN 'refused' ELSE 'registered' END, CASE WHEN a + b = 0 THEN 403 END,
            now() + interval '1 day' FROM generate_series(0, 3) a, generate_series(0, 9) b;
    END IF;
END $$;
DO $$ BEGIN
    -- Migration 0034 makes it.
    IF to_regclass('webhook_requests') IS NOT NULL THEN
        INSERT INTO webhook_requests (app, at, events, attempt, status, error, duration_ms)
        SELECT 'app' || a, now() - g * interval '1 min', g % 100, 1 + g % 7, CASE g % 3 WHEN 0 THEN 503 ELSE 200 END,
            CASE g % 3 WHEN 0 THEN 'the receiver answered with 503' END, g FROM generate_series(0, 4) a, generate_series(1, 1000) g;
    END IF;
END $$;
DO $$ BEGIN
    -- Migration 0036 makes it. As many networks as there may be, 203.0.113.0/24 among them.
    IF to_regclass('address_bans') IS NOT NULL THEN
        INSERT INTO address_bans (network, until)
        SELECT set_masklen('203.0.0.0'::inet + g * 256, 24)::cidr, now() + interval '1 day' FROM generate_series(1, 10000) g;
    END IF;
END $$;
DROP TABLE people;
VACUUM ANALYZE;
