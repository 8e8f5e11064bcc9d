-- expand, readers_from 1
-- What servers of an app can store under invented names is counted while it is written, and bounded: bans with revocations, and
-- users who have, or had, attributes. As in 0019, a trigger runs once per statement. The row of an app orders those who add to its
-- number, so that the bound is exact; no transaction adds for several apps in more than one statement, and each does so in the order
-- of the apps, so that none waits for another in a circle.
CREATE TABLE app_stored (
    app  text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    rows bigint NOT NULL,
    PRIMARY KEY (app, kind)
) WITH (fillfactor = 50);

CREATE FUNCTION stored_bound(p_kind text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE p_kind WHEN 'bans' THEN 100000 WHEN 'attribute owners' THEN 10000000 END
$$;

CREATE FUNCTION tally_stored() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_kind text := TG_ARGV[0];
    v_full text;
BEGIN
    IF TG_OP = 'DELETE' THEN
        UPDATE app_stored s SET rows = s.rows - g.rows FROM (SELECT o.app, count(*) AS rows FROM old_rows o GROUP BY 1) g
        WHERE s.app = g.app AND s.kind = v_kind;
        DELETE FROM app_stored s WHERE s.kind = v_kind AND s.rows = 0 AND s.app IN (SELECT o.app FROM old_rows o);
        RETURN NULL;
    END IF;
    WITH written AS (
        INSERT INTO app_stored AS s (app, kind, rows)
        SELECT n.app, v_kind, count(*) FROM new_rows n GROUP BY n.app ORDER BY n.app
        ON CONFLICT (app, kind) DO UPDATE SET rows = s.rows + EXCLUDED.rows
        RETURNING s.app, s.rows
    )
    SELECT w.app INTO v_full FROM written w WHERE w.rows > stored_bound(v_kind) LIMIT 1;
    IF v_full IS NOT NULL THEN
        RAISE EXCEPTION 'an app may have up to % %', stored_bound(v_kind), v_kind USING ERRCODE = '23H01';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER stored_inserted AFTER INSERT ON user_bans REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION tally_stored('bans');
CREATE TRIGGER stored_deleted AFTER DELETE ON user_bans REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION tally_stored('bans');
INSERT INTO app_stored (app, kind, rows) SELECT b.app, 'bans', count(*) FROM user_bans b GROUP BY 1;

CREATE TRIGGER stored_inserted AFTER INSERT ON user_attribute_versions REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION tally_stored('attribute owners');
CREATE TRIGGER stored_deleted AFTER DELETE ON user_attribute_versions REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION tally_stored('attribute owners');
INSERT INTO app_stored (app, kind, rows)
SELECT v.app, 'attribute owners', count(*) FROM user_attribute_versions v GROUP BY 1;

COMMENT ON TABLE app_stored IS 'How much of what is bounded for each app is stored; kept while it is written';
COMMENT ON COLUMN app_stored.app IS 'The app';
COMMENT ON COLUMN app_stored.kind IS
    'Of what: bans (rows of user_bans, revocations too) or attribute owners (rows of user_attribute_versions)';
COMMENT ON COLUMN app_stored.rows IS 'How many there are';
COMMENT ON FUNCTION stored_bound(text) IS 'How many of a kind an app may have';
COMMENT ON FUNCTION tally_stored() IS
    'Trigger: counts what is bounded for each app, and refuses (SQLSTATE 23H01) what would exceed the bound';

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles r WHERE r.rolname = 'heliograph_reader') THEN
        GRANT SELECT ON app_stored TO heliograph_reader;
    END IF;
END $$;
