-- What administrators look at with psql. Names and columns are part of the documentation: change them by new views.

CREATE VIEW online_users AS
SELECT app, account, uid, gateway, session, device,
    CASE WHEN detached THEN 'detached' ELSE 'online' END AS state, since, updated_at
FROM presence_sessions WHERE present;

CREATE VIEW channel_member_list AS
SELECT m.app, m.channel, m.account, m.uid, m.joined_at, s.gateway
FROM channel_members m
LEFT JOIN presence_sessions s ON s.app = m.app AND s.account = m.account AND s.present
WHERE m.present;

CREATE VIEW channels AS
SELECT app, channel, coalesce(m.members, 0) AS members, m.oldest_join, coalesce(a.attributes, 0) AS attributes,
    v.version AS attribute_version
FROM (
    SELECT app, channel, count(*) AS members, min(joined_at) AS oldest_join
    FROM channel_members WHERE present GROUP BY app, channel
) m
FULL JOIN (
    SELECT app, channel, count(*) AS attributes FROM channel_attributes GROUP BY app, channel
) a USING (app, channel)
LEFT JOIN channel_attribute_versions v USING (app, channel);

CREATE VIEW call_log AS
SELECT app, id, channel, caller, callee, kind, direction,
    CASE
        WHEN ended_at IS NOT NULL AND accepted_at IS NULL THEN 'not answered'
        WHEN ended_at IS NOT NULL THEN 'ended'
        WHEN accepted_at IS NOT NULL THEN 'talking'
        WHEN acknowledged_at IS NOT NULL THEN 'ringing'
        ELSE 'inviting'
    END AS state,
    started_at, acknowledged_at, accepted_at, ended_at, end_code, ended_at - accepted_at AS talk_time
FROM calls;

CREATE VIEW app_usage AS
SELECT a.id AS app, a.token_required, a.created_at,
    (SELECT count(*) FROM users u WHERE u.app = a.id) AS users,
    (SELECT count(*) FROM presence_sessions s WHERE s.app = a.id AND s.present) AS users_online,
    (SELECT count(DISTINCT m.channel) FROM channel_members m WHERE m.app = a.id AND m.present) AS channels,
    (SELECT count(*) FROM channel_members m WHERE m.app = a.id AND m.present) AS members,
    (SELECT count(*) FROM calls c WHERE c.app = a.id AND c.started_at > now() - interval '1 day') AS calls_last_day,
    (SELECT count(*) FROM sip_numbers n WHERE n.app = a.id) AS phone_numbers
FROM apps a;
