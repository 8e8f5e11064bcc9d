-- expand, readers_from 1
-- What views show of large tables in one number (members of a channel, sessions of a gateway, users of an app, logins of a day) is
-- kept while the rows are written, because counting a million rows takes a second (Docs/decisions/0023).
--
-- A trigger runs once per statement, not per row. The first one of a statement takes an advisory lock, so that two batches of a
-- mirror change the numbers one after the other and can never wait for each other in a circle.

CREATE TABLE channel_sizes (
    app     text COLLATE "C" NOT NULL,
    channel text COLLATE "C" NOT NULL,
    members bigint NOT NULL,
    PRIMARY KEY (app, channel)
) WITH (fillfactor = 70);

CREATE TABLE app_channels (
    app      text COLLATE "C" PRIMARY KEY,
    channels bigint NOT NULL,
    members  bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE gateway_sessions (
    app      text COLLATE "C" NOT NULL,
    gateway  text COLLATE "C" NOT NULL,
    sessions bigint NOT NULL,
    PRIMARY KEY (app, gateway)
) WITH (fillfactor = 50);

CREATE TABLE app_logins (
    app    text COLLATE "C" NOT NULL,
    day    date NOT NULL,
    logins bigint NOT NULL,
    PRIMARY KEY (app, day)
) WITH (fillfactor = 50);

CREATE TABLE app_users (
    app   text COLLATE "C" PRIMARY KEY,
    users bigint NOT NULL
);

CREATE TABLE counted_users (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    uid      bigint NOT NULL
);
INSERT INTO counted_users (uid) VALUES (0);

CREATE TABLE mirror_writes (
    mirror     text COLLATE "C" NOT NULL,
    minute     timestamptz NOT NULL,
    written_at timestamptz NOT NULL,
    rows       bigint NOT NULL,
    lag        interval,
    worst_lag  interval,
    PRIMARY KEY (mirror, minute)
) WITH (fillfactor = 50);

CREATE FUNCTION count_new_users(p_least bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_from bigint;
    v_to   bigint;
BEGIN
    -- Whoever else counts or removes users at this moment does it alone.
    SELECT c.uid INTO v_from FROM counted_users c FOR UPDATE SKIP LOCKED;
    IF v_from IS NULL OR NOT EXISTS (SELECT FROM users u WHERE u.uid >= v_from + greatest(p_least, 1)) THEN
        RETURN 0;
    END IF;
    -- Uids are given in order, but a login may be committed a moment later than one with a higher uid.
    SELECT u.uid INTO v_to FROM users u
    WHERE u.uid > v_from AND u.first_seen < now() - interval '1 minute' ORDER BY u.uid DESC LIMIT 1;
    IF v_to IS NULL THEN
        RETURN 0;
    END IF;
    INSERT INTO app_users AS a (app, users)
    SELECT u.app, count(*) FROM users u WHERE u.uid > v_from AND u.uid <= v_to GROUP BY 1 ORDER BY 1
    ON CONFLICT (app) DO UPDATE SET users = a.users + EXCLUDED.users;
    UPDATE counted_users SET uid = v_to;
    RETURN v_to - v_from;
END $$;

CREATE FUNCTION note_mirror_write(p_mirror text, p_rows bigint, p_lag interval) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO mirror_writes AS w (mirror, minute, written_at, rows, lag, worst_lag)
    VALUES (p_mirror, date_trunc('minute', clock_timestamp()), clock_timestamp(), p_rows, p_lag, p_lag)
    ON CONFLICT (mirror, minute) DO UPDATE SET written_at = EXCLUDED.written_at, rows = w.rows + EXCLUDED.rows,
        lag = coalesce(EXCLUDED.lag, w.lag), worst_lag = greatest(w.worst_lag, EXCLUDED.worst_lag);
    DELETE FROM mirror_writes w WHERE w.mirror = p_mirror AND w.minute < now() - interval '1 hour';
END $$;

CREATE FUNCTION tally_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_rows     bigint;
    v_lag      interval;
    v_apps     text[];
    v_gateways text[];
    v_changes  bigint[];
BEGIN
    IF TG_OP = 'DELETE' THEN
        SELECT array_agg(c.app), array_agg(c.gateway), array_agg(c.change) INTO v_apps, v_gateways, v_changes FROM (
            SELECT o.app, o.gateway, -count(*) AS change FROM old_rows o WHERE o.present GROUP BY 1, 2) c;
        IF v_apps IS NULL THEN
            RETURN NULL;
        END IF;
        PERFORM pg_advisory_xact_lock(x'7461731'::bigint);
    ELSIF TG_OP = 'INSERT' THEN
        SELECT count(*), max(clock_timestamp() - n.since) FILTER (WHERE n.present) INTO v_rows, v_lag FROM new_rows n;
        IF v_rows = 0 THEN
            RETURN NULL;
        END IF;
        PERFORM pg_advisory_xact_lock(x'7461731'::bigint);
        SELECT array_agg(c.app), array_agg(c.gateway), array_agg(c.change) INTO v_apps, v_gateways, v_changes FROM (
            SELECT n.app, n.gateway, count(*) AS change FROM new_rows n WHERE n.present GROUP BY 1, 2) c;
        -- A session that is over was a login too, which ended before it was written.
        INSERT INTO app_logins AS l (app, day, logins)
        SELECT n.app, (n.since AT TIME ZONE 'UTC')::date, count(*) FROM new_rows n GROUP BY 1, 2
        ON CONFLICT (app, day) DO UPDATE SET logins = l.logins + EXCLUDED.logins;
    ELSE
        SELECT count(*) INTO v_rows FROM new_rows n;
        IF v_rows = 0 THEN
            RETURN NULL;
        END IF;
        PERFORM pg_advisory_xact_lock(x'7461731'::bigint);
        SELECT array_agg(c.app), array_agg(c.gateway), array_agg(c.change) INTO v_apps, v_gateways, v_changes FROM (
            SELECT b.app, b.gateway, sum(b.change) AS change FROM (
                SELECT n.app, n.gateway, 1 AS change FROM new_rows n WHERE n.present
                UNION ALL SELECT o.app, o.gateway, -1 FROM old_rows o WHERE o.present
            ) b GROUP BY 1, 2 HAVING sum(b.change) <> 0) c;
        WITH logins AS (
            SELECT n.app, n.since, n.present FROM new_rows n JOIN old_rows o ON o.app = n.app AND o.account = n.account
            WHERE n.session <> o.session
        ), counted AS (
            INSERT INTO app_logins AS l (app, day, logins)
            SELECT n.app, (n.since AT TIME ZONE 'UTC')::date, count(*) FROM logins n GROUP BY 1, 2
            ON CONFLICT (app, day) DO UPDATE SET logins = l.logins + EXCLUDED.logins
        )
        SELECT max(clock_timestamp() - n.since) FILTER (WHERE n.present) INTO v_lag FROM logins n;
    END IF;

    INSERT INTO gateway_sessions AS g (app, gateway, sessions)
    SELECT c.app, c.gateway, c.change FROM unnest(v_apps, v_gateways, v_changes) AS c(app, gateway, change)
    ON CONFLICT (app, gateway) DO UPDATE SET sessions = g.sessions + EXCLUDED.sessions;
    DELETE FROM gateway_sessions g WHERE g.sessions = 0;
    IF TG_OP <> 'DELETE' THEN
        PERFORM note_mirror_write('sessions', v_rows, greatest(v_lag, interval '0'));
        PERFORM count_new_users(1000);
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION tally_members() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_rows     bigint;
    v_lag      interval;
    v_apps     text[];
    v_channels text[];
    v_changes  bigint[];
BEGIN
    IF TG_OP = 'DELETE' THEN
        SELECT array_agg(c.app), array_agg(c.channel), array_agg(c.change) INTO v_apps, v_channels, v_changes FROM (
            SELECT o.app, o.channel, -count(*) AS change FROM old_rows o WHERE o.present GROUP BY 1, 2) c;
    ELSIF TG_OP = 'INSERT' THEN
        SELECT count(*), max(clock_timestamp() - n.joined_at) FILTER (WHERE n.present) INTO v_rows, v_lag FROM new_rows n;
        SELECT array_agg(c.app), array_agg(c.channel), array_agg(c.change) INTO v_apps, v_channels, v_changes FROM (
            SELECT n.app, n.channel, count(*) AS change FROM new_rows n WHERE n.present GROUP BY 1, 2) c;
    ELSE
        SELECT count(*) INTO v_rows FROM new_rows n;
        SELECT array_agg(c.app), array_agg(c.channel), array_agg(c.change) INTO v_apps, v_channels, v_changes FROM (
            SELECT b.app, b.channel, sum(b.change) AS change FROM (
                SELECT n.app, n.channel, 1 AS change FROM new_rows n WHERE n.present
                UNION ALL SELECT o.app, o.channel, -1 FROM old_rows o WHERE o.present
            ) b GROUP BY 1, 2 HAVING sum(b.change) <> 0) c;
        SELECT max(clock_timestamp() - n.joined_at) INTO v_lag FROM new_rows n
        JOIN old_rows o ON o.app = n.app AND o.channel = n.channel AND o.account = n.account
        WHERE n.present AND NOT o.present;
    END IF;
    IF v_apps IS NULL AND coalesce(v_rows, 0) = 0 THEN
        RETURN NULL;
    END IF;

    PERFORM pg_advisory_xact_lock(x'7461732'::bigint);
    WITH changes AS (
        SELECT c.app COLLATE "C" AS app, c.channel COLLATE "C" AS channel, c.change
        FROM unnest(v_apps, v_channels, v_changes) AS c(app, channel, change)
    ), written AS (
        INSERT INTO channel_sizes AS s (app, channel, members) SELECT c.app, c.channel, c.change FROM changes c
        ON CONFLICT (app, channel) DO UPDATE SET members = s.members + EXCLUDED.members
        RETURNING s.app, s.channel, s.members
    )
    INSERT INTO app_channels AS a (app, channels, members)
    SELECT w.app,
        count(*) FILTER (WHERE w.members > 0 AND w.members = c.change)
            - count(*) FILTER (WHERE w.members = 0 AND c.change < 0),
        sum(c.change)
    FROM written w JOIN changes c ON c.app = w.app AND c.channel = w.channel GROUP BY 1
    ON CONFLICT (app) DO UPDATE SET channels = a.channels + EXCLUDED.channels, members = a.members + EXCLUDED.members;
    -- A channel that has attributes stays, with 0 members (0020).
    DELETE FROM channel_sizes s USING unnest(v_apps, v_channels, v_changes) AS c(app, channel, change)
    WHERE c.change < 0 AND s.app = c.app COLLATE "C" AND s.channel = c.channel COLLATE "C" AND s.members = 0
        AND NOT EXISTS (
            SELECT FROM channel_attribute_versions v WHERE v.app = s.app AND v.channel = s.channel AND v.attributes > 0);
    IF TG_OP <> 'DELETE' THEN
        PERFORM note_mirror_write('members', v_rows, greatest(v_lag, interval '0'));
    END IF;
    RETURN NULL;
END $$;

-- Counts everything anew: about a second for a million rows, for which the mirrors wait.
CREATE FUNCTION recount() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(x'7461731'::bigint);
    PERFORM pg_advisory_xact_lock(x'7461732'::bigint);
    DELETE FROM gateway_sessions;
    INSERT INTO gateway_sessions (app, gateway, sessions)
    SELECT p.app, p.gateway, count(*) FROM presence_sessions p WHERE p.present GROUP BY 1, 2;
    DELETE FROM channel_sizes;
    INSERT INTO channel_sizes (app, channel, members)
    SELECT m.app, m.channel, count(*) FROM channel_members m WHERE m.present GROUP BY 1, 2;
    DELETE FROM app_channels;
    INSERT INTO app_channels (app, channels, members) SELECT s.app, count(*), sum(s.members) FROM channel_sizes s GROUP BY 1;
    INSERT INTO channel_sizes (app, channel, members)
    SELECT v.app, v.channel, 0 FROM channel_attribute_versions v WHERE v.attributes > 0 ON CONFLICT DO NOTHING;
    PERFORM FROM counted_users FOR UPDATE;
    DELETE FROM app_users;
    UPDATE counted_users SET uid = 0;
    PERFORM count_new_users(1);
END $$;

-- The users first: nobody waits for them.
SELECT count_new_users(1);

CREATE TRIGGER tally_inserted AFTER INSERT ON presence_sessions REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION tally_sessions();
CREATE TRIGGER tally_updated AFTER UPDATE ON presence_sessions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION tally_sessions();
CREATE TRIGGER tally_deleted AFTER DELETE ON presence_sessions REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION tally_sessions();
INSERT INTO gateway_sessions (app, gateway, sessions)
SELECT p.app, p.gateway, count(*) FROM presence_sessions p WHERE p.present GROUP BY 1, 2;

CREATE TRIGGER tally_inserted AFTER INSERT ON channel_members REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION tally_members();
CREATE TRIGGER tally_updated AFTER UPDATE ON channel_members REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION tally_members();
CREATE TRIGGER tally_deleted AFTER DELETE ON channel_members REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION tally_members();
INSERT INTO channel_sizes (app, channel, members)
SELECT m.app, m.channel, count(*) FROM channel_members m WHERE m.present GROUP BY 1, 2;
INSERT INTO app_channels (app, channels, members) SELECT s.app, count(*), sum(s.members) FROM channel_sizes s GROUP BY 1;
