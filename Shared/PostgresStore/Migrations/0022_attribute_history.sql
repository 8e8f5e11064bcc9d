-- expand, readers_from 1
-- What attributes were before: a table divided by day, whose old days are removed as a whole (Docs/decisions/0023). Triggers write it, so
-- that processes of the release before do too.

CREATE TABLE attribute_history (
    app        text COLLATE "C" NOT NULL,
    owner_kind text NOT NULL CHECK (owner_kind IN ('user', 'channel')),
    owner      text COLLATE "C" NOT NULL,
    name       text COLLATE "C" NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now(),
    change     text NOT NULL CHECK (change IN ('set', 'deleted')),
    value      text,
    version    bigint NOT NULL,
    changed_by text COLLATE "C"
) PARTITION BY RANGE (changed_at);
CREATE INDEX attribute_history_by_owner ON attribute_history (app, owner_kind, owner, name, changed_at);
-- Without it, a change on a day for which there is no table would be refused.
CREATE TABLE attribute_history_rest PARTITION OF attribute_history DEFAULT;

CREATE TABLE retention (
    history text COLLATE "C" PRIMARY KEY,
    days    integer CHECK (days BETWEEN 0 AND 36500),
    -- Calls are always written.
    CHECK (history <> 'calls' OR days <> 0)
);
INSERT INTO retention (history, days) VALUES ('attributes', 30), ('calls', NULL);

-- Arguments: 'user' or 'channel', and the name of the column of the owner.
CREATE FUNCTION note_attribute_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM retention r WHERE r.history = 'attributes' AND r.days > 0) THEN
        RETURN NULL;
    END IF;
    IF TG_OP = 'DELETE' THEN
        -- Not what goes with its app.
        INSERT INTO attribute_history (app, owner_kind, owner, name, change, version)
        SELECT r.j ->> 'app', TG_ARGV[0], r.j ->> TG_ARGV[1], r.j ->> 'name', 'deleted', (r.j ->> 'version')::bigint
        FROM (SELECT to_jsonb(c) AS j FROM changed_rows c) r
        WHERE EXISTS (SELECT FROM apps a WHERE a.id = r.j ->> 'app');
    ELSE
        INSERT INTO attribute_history (app, owner_kind, owner, name, change, value, version, changed_by)
        SELECT r.j ->> 'app', TG_ARGV[0], r.j ->> TG_ARGV[1], r.j ->> 'name', 'set', r.j ->> 'value', (r.j ->> 'version')::bigint,
            coalesce(r.j ->> 'updated_by', r.j ->> TG_ARGV[1])
        FROM (SELECT to_jsonb(c) AS j FROM changed_rows c) r;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER note_inserted AFTER INSERT ON user_attributes REFERENCING NEW TABLE AS changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION note_attribute_changes('user', 'account');
CREATE TRIGGER note_updated AFTER UPDATE ON user_attributes REFERENCING NEW TABLE AS changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION note_attribute_changes('user', 'account');
CREATE TRIGGER note_deleted AFTER DELETE ON user_attributes REFERENCING OLD TABLE AS changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION note_attribute_changes('user', 'account');
CREATE TRIGGER note_inserted AFTER INSERT ON channel_attributes REFERENCING NEW TABLE AS changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION note_attribute_changes('channel', 'channel');
CREATE TRIGGER note_updated AFTER UPDATE ON channel_attributes REFERENCING NEW TABLE AS changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION note_attribute_changes('channel', 'channel');
CREATE TRIGGER note_deleted AFTER DELETE ON channel_attributes REFERENCING OLD TABLE AS changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION note_attribute_changes('channel', 'channel');

CREATE VIEW history_parts AS
SELECT h.history, c.relname::text AS name,
    substring(b.bound FROM 'FROM \(''([^'']+)''')::timestamptz AS since,
    substring(b.bound FROM 'TO \(''([^'']+)''')::timestamptz AS until,
    pg_total_relation_size(c.oid) AS bytes
FROM (VALUES ('attributes', 'attribute_history'), ('calls', 'calls')) AS h(history, parent)
JOIN pg_inherits i ON i.inhparent = h.parent::regclass
JOIN pg_class c ON c.oid = i.inhrelid
CROSS JOIN LATERAL (SELECT pg_get_expr(c.relpartbound, c.oid) AS bound) b;

CREATE VIEW histories AS
SELECT r.history, CASE r.history WHEN 'calls' THEN 'month' ELSE 'day' END AS divided_by, r.days AS kept_days,
    count(p.name) AS parts, min(p.since) AS since, max(p.until) AS until, coalesce(sum(p.bytes), 0)::bigint AS bytes
FROM retention r LEFT JOIN history_parts p ON p.history = r.history
GROUP BY r.history, r.days;

-- Makes a table for each day of UTC up to now() + p_ahead that has none. Rows of such a day move there. Returns how many it made.
CREATE FUNCTION make_history_days(p_ahead interval) RETURNS bigint LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
DECLARE
    v_since timestamptz := date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC';
    v_until timestamptz;
    v_name  text;
    v_made  bigint := 0;
BEGIN
    IF (SELECT max(p.until) FROM history_parts p WHERE p.history = 'attributes') > now() + p_ahead THEN
        RETURN 0;
    END IF;
    -- One process at a time: the next one finds the days.
    LOCK TABLE ONLY attribute_history IN SHARE UPDATE EXCLUSIVE MODE;
    WHILE v_since <= now() + p_ahead LOOP
        v_until := v_since + interval '24 hours';
        v_name := to_char(v_since AT TIME ZONE 'UTC', '"attribute_history_"YYYY_MM_DD');
        IF to_regclass(v_name) IS NULL THEN
            EXECUTE format('CREATE TABLE %I (LIKE attribute_history INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', v_name);
            LOCK TABLE attribute_history_rest IN ACCESS EXCLUSIVE MODE;
            EXECUTE format(
                'WITH moved AS (DELETE FROM attribute_history_rest WHERE changed_at >= %L AND changed_at < %L RETURNING *) '
                'INSERT INTO %I SELECT * FROM moved', v_since, v_until, v_name);
            EXECUTE format('ALTER TABLE attribute_history ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', v_name, v_since, v_until);
            v_made := v_made + 1;
        END IF;
        v_since := v_until;
    END LOOP;
    RETURN v_made;
END $$;

-- Removes a day of a history with its rows; false when there is no such day.
CREATE FUNCTION drop_history_day(p_name text) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
BEGIN
    LOCK TABLE ONLY attribute_history IN ACCESS EXCLUSIVE MODE;
    IF NOT EXISTS (SELECT FROM history_parts p WHERE p.history = 'attributes' AND p.name = p_name AND p.until IS NOT NULL) THEN
        RETURN false;
    END IF;
    EXECUTE format('DROP TABLE %I', p_name);
    RETURN true;
END $$;

SELECT make_history_days(interval '2 days');

-- Messages that wait for users, by the last count; PostgreSQL has no messages.
CREATE TABLE waiting_mail (
    app        text COLLATE "C" NOT NULL,
    account    text COLLATE "C" NOT NULL,
    messages   bigint NOT NULL,
    counted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app, account)
);
