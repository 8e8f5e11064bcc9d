-- expand, readers_from 1
-- What apps use, by day (UTC): messages and deliveries as gateways report them, calls as they end, the most users at once.

-- Gateways report what was used since their start, so that a report that comes twice changes nothing. Presence adds what is two days
-- old to `app_days`, and removes it here.
CREATE TABLE gateway_days (
    app        text COLLATE "C" NOT NULL,
    day        date NOT NULL,
    gateway    text COLLATE "C" NOT NULL,
    messages   bigint NOT NULL,
    deliveries bigint NOT NULL,
    PRIMARY KEY (app, day, gateway)
) WITH (fillfactor = 70);

CREATE TABLE app_days (
    app             text COLLATE "C" NOT NULL,
    day             date NOT NULL,
    messages        bigint NOT NULL DEFAULT 0,
    deliveries      bigint NOT NULL DEFAULT 0,
    calls           bigint NOT NULL DEFAULT 0,
    call_time       interval NOT NULL DEFAULT '0',
    phone_calls     bigint NOT NULL DEFAULT 0,
    phone_call_time interval NOT NULL DEFAULT '0',
    peak_users      bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (app, day)
) WITH (fillfactor = 70);

-- A union, not joins: so the condition on an app reaches each of the tables.
CREATE VIEW usage_by_day AS
SELECT u.app, u.day, sum(u.logins)::bigint AS logins, sum(u.messages)::bigint AS messages, sum(u.deliveries)::bigint AS deliveries,
    sum(u.calls)::bigint AS calls, sum(u.call_time) AS call_time, sum(u.phone_calls)::bigint AS phone_calls,
    sum(u.phone_call_time) AS phone_call_time, max(u.peak_users) AS peak_users
FROM (
    SELECT d.app, d.day, 0 AS logins, d.messages, d.deliveries, d.calls, d.call_time, d.phone_calls, d.phone_call_time, d.peak_users
    FROM app_days d
    UNION ALL SELECT l.app, l.day, l.logins, 0, 0, 0, '0', 0, '0', 0 FROM app_logins l
    UNION ALL SELECT g.app, g.day, 0, g.messages, g.deliveries, 0, '0', 0, '0', 0 FROM gateway_days g
) u GROUP BY u.app, u.day;

-- A call that was answered counts when its end is written, for the day on which it began. Those of one statement are counted in the order of
-- their apps and days, so that no two statements wait for each other in a circle.
CREATE FUNCTION tally_calls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO app_days AS d (app, day, calls, call_time, phone_calls, phone_call_time)
        SELECT n.app, (n.started_at AT TIME ZONE 'UTC')::date,
            count(*) FILTER (WHERE n.direction = 'internal'),
            coalesce(sum(n.ended_at - n.accepted_at) FILTER (WHERE n.direction = 'internal'), '0'),
            count(*) FILTER (WHERE n.direction <> 'internal'),
            coalesce(sum(n.ended_at - n.accepted_at) FILTER (WHERE n.direction <> 'internal'), '0')
        FROM new_rows n WHERE n.accepted_at IS NOT NULL AND n.ended_at IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2
        ON CONFLICT (app, day) DO UPDATE SET calls = d.calls + EXCLUDED.calls, call_time = d.call_time + EXCLUDED.call_time,
            phone_calls = d.phone_calls + EXCLUDED.phone_calls, phone_call_time = d.phone_call_time + EXCLUDED.phone_call_time;
    ELSE
        INSERT INTO app_days AS d (app, day, calls, call_time, phone_calls, phone_call_time)
        SELECT n.app, (n.started_at AT TIME ZONE 'UTC')::date,
            count(*) FILTER (WHERE n.direction = 'internal'),
            coalesce(sum(n.ended_at - n.accepted_at) FILTER (WHERE n.direction = 'internal'), '0'),
            count(*) FILTER (WHERE n.direction <> 'internal'),
            coalesce(sum(n.ended_at - n.accepted_at) FILTER (WHERE n.direction <> 'internal'), '0')
        FROM new_rows n JOIN old_rows o ON o.app = n.app AND o.id = n.id AND o.started_at = n.started_at
        WHERE n.accepted_at IS NOT NULL AND n.ended_at IS NOT NULL AND (o.accepted_at IS NULL OR o.ended_at IS NULL)
        GROUP BY 1, 2 ORDER BY 1, 2
        ON CONFLICT (app, day) DO UPDATE SET calls = d.calls + EXCLUDED.calls, call_time = d.call_time + EXCLUDED.call_time,
            phone_calls = d.phone_calls + EXCLUDED.phone_calls, phone_call_time = d.phone_call_time + EXCLUDED.phone_call_time;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER tally_inserted AFTER INSERT ON calls REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION tally_calls();
CREATE TRIGGER tally_updated AFTER UPDATE ON calls REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION tally_calls();

COMMENT ON TABLE gateway_days IS 'What apps used at each gateway in the last days, as it has reported it; shown by usage_by_day';
COMMENT ON COLUMN gateway_days.gateway IS 'The gateway''s shard; a gateway that starts again has another id';
COMMENT ON TABLE app_days IS 'What apps used on each day, without what gateways have reported in the last days; shown by usage_by_day';
COMMENT ON VIEW usage_by_day IS 'What apps used on each day. Messages and deliveries follow within a minute.';
COMMENT ON FUNCTION tally_calls() IS 'Trigger: counts calls in app_days when they have ended';
DO $$
DECLARE
    v_relation text;
    v_column   text[];
BEGIN
    FOREACH v_relation IN ARRAY ARRAY['gateway_days', 'app_days', 'usage_by_day'] LOOP
        FOREACH v_column SLICE 1 IN ARRAY ARRAY[
            ['app', 'The app'], ['day', 'The day (UTC)'], ['logins', 'Sessions that began'],
            ['messages', 'Messages of users and of the app''s servers, to users and to channels'],
            ['deliveries', 'Channel messages that were written to members: one for each member'],
            ['calls', 'Calls between users that were answered, of those that began on the day and have ended'],
            ['call_time', 'The time from answering these calls to their ends'],
            ['phone_calls', 'Calls with telephones that were answered, of those that began on the day and have ended'],
            ['phone_call_time', 'The time from answering these calls to their ends'],
            ['peak_users', 'The most users with a session at once, counted once a minute']
        ] LOOP
            IF EXISTS (
                SELECT FROM pg_attribute a WHERE a.attrelid = v_relation::regclass AND a.attname = v_column[1] AND NOT a.attisdropped)
            THEN
                EXECUTE format('COMMENT ON COLUMN %I.%I IS %L', v_relation, v_column[1], v_column[2]);
            END IF;
        END LOOP;
    END LOOP;
END $$;
