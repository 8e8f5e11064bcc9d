-- A million users, all online, each in one of a hundred thousand channels; a million calls of a month.
INSERT INTO apps (id, certificate) SELECT 'app' || g, md5(g::text) FROM generate_series(0, 9) g;
INSERT INTO users (app, account, uid, first_seen, last_seen)
SELECT 'app' || (g % 10), 'user' || g, g, now() - interval '3 days', now() FROM generate_series(1, 1000000) g;
SELECT setval('user_uids', 1000001);
INSERT INTO presence_sessions (app, account, present, version, uid, session, gateway, device, detached, since)
SELECT 'app' || (g % 10), 'user' || g, true, g, g, md5(g::text), 'gateway-' || (g % 20), 'web', g % 50 = 0, now() - interval '1 hour'
FROM generate_series(1, 1000000) g;
INSERT INTO channel_members (app, channel, account, present, version, uid, joined_at)
SELECT 'app' || (g % 10), 'room' || (g % 100000), 'user' || g, true, g, g, now() - interval '1 hour' FROM generate_series(1, 1000000) g;
INSERT INTO channel_attribute_versions (app, channel, version, attributes, bytes)
SELECT 'app' || (g % 10), 'room' || g, 1700000000000, 2, 40 FROM generate_series(0, 99999) g;
INSERT INTO channel_attributes (app, channel, name, value, version, updated_by)
SELECT 'app' || (g % 10), 'room' || g, 'topic' || n, 'value', 1, 'user1' FROM generate_series(0, 99999) g, generate_series(1, 2) n;
INSERT INTO user_attribute_versions (app, account, version, attributes, bytes)
SELECT 'app' || (g % 10), 'user' || g, 1700000000000, 1, 20 FROM generate_series(1, 1000000) g;
INSERT INTO user_attributes (app, account, name, value, version)
SELECT 'app' || (g % 10), 'user' || g, 'name', 'value', 1 FROM generate_series(1, 1000000) g;
INSERT INTO calls (app, id, channel, caller, callee, kind, direction, started_at, acknowledged_at, accepted_at, ended_at, end_code, sip_status)
SELECT 'app' || (g % 10), 'call' || g, 'room' || (g % 1000), 'user' || g, CASE g % 4 WHEN 0 THEN '+4930' || g ELSE 'user' || (g + 1) END,
    CASE g % 4 WHEN 0 THEN 'phone' ELSE 'user' END, CASE g % 4 WHEN 0 THEN 'outbound' ELSE 'internal' END, t.at, t.at,
    CASE WHEN g % 5 > 0 THEN t.at + interval '5 s' END, t.at + interval '65 s', CASE WHEN g % 5 = 0 THEN 704 ELSE 0 END,
    CASE WHEN g % 4 = 0 THEN 200 END
FROM generate_series(1, 1000000) g CROSS JOIN LATERAL (SELECT now() - g * interval '2.6 seconds' AS at) t;
INSERT INTO waiting_mail (app, account, messages) SELECT 'app' || (g % 10), 'user' || g, g % 100 FROM generate_series(1, 100000) g;
VACUUM ANALYZE;
