-- expand, readers_from 1
-- `calls` becomes a table that is divided by month. The old one holds the past, this month and the next one; no row of it is read or
-- written. Processes of the release before use the table as always: they write by the key (app, id, started_at) already (0013).

CREATE TABLE calls_by_month (LIKE calls INCLUDING DEFAULTS) PARTITION BY RANGE (started_at);

-- What administrators look at, as before (0005, 0006). The views are changed before the table is locked, because whoever reads them
-- locks the view first, and then the table.
CREATE OR REPLACE VIEW call_log AS
SELECT app, id, channel, caller, callee, kind, direction,
    CASE
        WHEN ended_at IS NOT NULL AND accepted_at IS NULL THEN 'not answered'
        WHEN ended_at IS NOT NULL THEN 'ended'
        WHEN accepted_at IS NOT NULL THEN 'talking'
        WHEN acknowledged_at IS NOT NULL THEN 'ringing'
        ELSE 'inviting'
    END AS state,
    started_at, acknowledged_at, accepted_at, ended_at, end_code, ended_at - accepted_at AS talk_time,
    CASE direction WHEN 'outbound' THEN callee WHEN 'inbound' THEN caller END AS number,
    sip_call_id, sip_status, sip_reason
FROM calls_by_month;

CREATE OR REPLACE VIEW app_usage AS
SELECT a.id AS app, a.token_required, a.created_at,
    (SELECT count(*) FROM users u WHERE u.app = a.id) AS users,
    (SELECT count(*) FROM presence_sessions s WHERE s.app = a.id AND s.present) AS users_online,
    (SELECT count(DISTINCT m.channel) FROM channel_members m WHERE m.app = a.id AND m.present) AS channels,
    (SELECT count(*) FROM channel_members m WHERE m.app = a.id AND m.present) AS members,
    (SELECT count(*) FROM calls_by_month c WHERE c.app = a.id AND c.started_at > now() - interval '1 day') AS calls_last_day,
    (SELECT count(*) FROM sip_numbers n WHERE n.app = a.id) AS phone_numbers
FROM apps a;

LOCK TABLE calls IN ACCESS EXCLUSIVE MODE;
ALTER TABLE calls DROP CONSTRAINT calls_pkey;
ALTER TABLE calls ADD CONSTRAINT calls_before_pkey PRIMARY KEY USING INDEX calls_by_identity;
ALTER INDEX calls_by_start RENAME TO calls_before_by_start;
ALTER INDEX calls_open RENAME TO calls_before_open;
ALTER INDEX calls_by_time RENAME TO calls_before_by_time;
ALTER TABLE calls RENAME TO calls_before;
ALTER TABLE calls_by_month RENAME TO calls;
ALTER TABLE calls ADD PRIMARY KEY (app, id, started_at);
CREATE INDEX calls_by_start ON calls (app, started_at);
CREATE INDEX calls_open ON calls (started_at, app, id) WHERE ended_at IS NULL;
CREATE INDEX calls_by_time ON calls (started_at);

DO $$
DECLARE
    bound text;
    granted record;
BEGIN
    -- The old table has an index for each of the new one's, and its check says that it holds nothing else: neither is made anew.
    SELECT substring(pg_get_constraintdef(c.oid) FROM '''([^'']+)''') INTO STRICT bound
    FROM pg_constraint c WHERE c.conrelid = 'calls_before'::regclass AND c.conname = 'calls_bound';
    EXECUTE format('ALTER TABLE calls ATTACH PARTITION calls_before FOR VALUES FROM (MINVALUE) TO (%L)', bound);
    ALTER TABLE calls_before DROP CONSTRAINT calls_bound;
    -- Without it, a call for which there is no month would be refused, and lost.
    ALTER TABLE calls ATTACH PARTITION calls_rest DEFAULT;
    FOR granted IN
        SELECT a.privilege_type, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee,
            CASE WHEN a.is_grantable THEN 'WITH GRANT OPTION' ELSE '' END AS further
        FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = 'calls_before'::regclass AND a.grantee <> c.relowner
    LOOP
        EXECUTE format('GRANT %s ON calls TO %s %s', granted.privilege_type, granted.grantee, granted.further);
    END LOOP;
END $$;

-- The tables that hold the calls: from when to when a call began. Both are null for `calls_rest`, which holds calls of all times for
-- which there is no other table; `since` is null for `calls_before`.
CREATE VIEW call_months AS
SELECT c.relname::text AS name,
    substring(b.bound FROM 'FROM \(''([^'']+)''')::timestamptz AS since,
    substring(b.bound FROM 'TO \(''([^'']+)''')::timestamptz AS until,
    pg_total_relation_size(c.oid) AS bytes
FROM pg_inherits i
JOIN pg_class c ON c.oid = i.inhrelid
CROSS JOIN LATERAL (SELECT pg_get_expr(c.relpartbound, c.oid) AS bound) b
WHERE i.inhparent = 'calls'::regclass;

-- Makes a table for each month that follows the last one and has begun by now() + p_ahead. Its calls move there from calls_rest, where
-- they are when nobody has made the month in time. Returns the number of months that it made.
CREATE FUNCTION make_call_months(p_ahead interval) RETURNS bigint LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
DECLARE
    v_since timestamptz;
    v_until timestamptz;
    v_name  text;
    v_made  bigint := 0;
BEGIN
    IF (SELECT max(m.until) FROM call_months m) > now() + p_ahead THEN
        RETURN 0;
    END IF;
    -- One process at a time: the next one finds the months.
    LOCK TABLE ONLY calls IN SHARE UPDATE EXCLUSIVE MODE;
    SELECT coalesce(max(m.until), date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC') INTO v_since
    FROM call_months m;
    WHILE v_since <= now() + p_ahead LOOP
        v_until := (v_since AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC';
        v_name := to_char(v_since AT TIME ZONE 'UTC', '"calls_"YYYY_MM');
        EXECUTE format('CREATE TABLE %I (LIKE calls INCLUDING DEFAULTS)', v_name);
        LOCK TABLE calls_rest IN ACCESS EXCLUSIVE MODE;
        EXECUTE format(
            'WITH moved AS (DELETE FROM calls_rest WHERE started_at >= %L AND started_at < %L RETURNING *) '
            'INSERT INTO %I SELECT * FROM moved', v_since, v_until, v_name);
        EXECUTE format('ALTER TABLE calls ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', v_name, v_since, v_until);
        v_made := v_made + 1;
        v_since := v_until;
    END LOOP;
    RETURN v_made;
END $$;

-- Removes a month with its calls; false when there is no such month. Never calls_rest.
CREATE FUNCTION drop_call_month(p_name text) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
BEGIN
    LOCK TABLE ONLY calls IN ACCESS EXCLUSIVE MODE;
    IF NOT EXISTS (SELECT FROM call_months m WHERE m.name = p_name AND m.until IS NOT NULL) THEN
        RETURN false;
    END IF;
    EXECUTE format('DROP TABLE %I', p_name);
    RETURN true;
END $$;
