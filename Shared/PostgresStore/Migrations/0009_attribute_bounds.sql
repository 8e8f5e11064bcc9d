-- What an owner may hold, and when version rows may go. Limits.attributesPerOwner and Limits.attributeBytesPerOwner say the
-- same: change both.
CREATE FUNCTION attributes_bound() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 1000';
CREATE FUNCTION attribute_bytes_bound() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT 1048576::bigint';
CREATE FUNCTION attribute_bytes(p_name text, p_value text) RETURNS bigint LANGUAGE sql IMMUTABLE AS
    'SELECT octet_length(p_name)::bigint + octet_length(p_value)';

-- How many attributes an owner holds and their bytes, names and values, kept by the functions below.
ALTER TABLE user_attribute_versions
    ADD COLUMN attributes integer NOT NULL DEFAULT 0, ADD COLUMN bytes bigint NOT NULL DEFAULT 0,
    ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE channel_attribute_versions
    ADD COLUMN attributes integer NOT NULL DEFAULT 0, ADD COLUMN bytes bigint NOT NULL DEFAULT 0,
    ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();
UPDATE user_attribute_versions v SET attributes = a.attributes, bytes = a.bytes FROM (
    SELECT app, account, count(*) AS attributes, sum(attribute_bytes(name, value)) AS bytes
    FROM user_attributes GROUP BY 1, 2) a WHERE a.app = v.app AND a.account = v.account;
UPDATE channel_attribute_versions v SET attributes = a.attributes, bytes = a.bytes FROM (
    SELECT app, channel, count(*) AS attributes, sum(attribute_bytes(name, value)) AS bytes
    FROM channel_attributes GROUP BY 1, 2) a WHERE a.app = v.app AND a.channel = v.channel;
-- The rows that go after a while: see AttributeStore.forgetChannels.
CREATE INDEX channel_attribute_versions_empty ON channel_attribute_versions (updated_at) WHERE attributes = 0;

-- As before (0003, 0004), with bounds: an update that would make its owner hold more than them changes nothing and is
-- answered with version 0.
CREATE OR REPLACE FUNCTION change_channel_attributes(
    p_commands text[], p_apps text[], p_owners text[], p_kinds text[], p_names text[], p_values text[],
    p_accounts text[]
) RETURNS TABLE (ordinal bigint, version bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    -- Locks every owner, in the same order in all concurrent batches, so that they wait but never in a circle. The
    -- statements below then see all that was committed before.
    INSERT INTO channel_attribute_versions AS v (app, channel, version)
    SELECT DISTINCT i.app COLLATE "C", i.owner COLLATE "C", (extract(epoch FROM now()) * 1000)::bigint
    FROM unnest(p_apps, p_owners) AS i(app, owner)
    ORDER BY 1, 2
    ON CONFLICT (app, channel) DO UPDATE SET version = v.version;

    -- Where an owner could pass its bounds, each change is looked at by itself, in their order.
    IF EXISTS (
        SELECT FROM (
            SELECT i.app COLLATE "C" AS app, i.owner COLLATE "C" AS owner, count(*) FILTER (WHERE a.name IS NULL) AS attributes,
                sum(greatest(0, attribute_bytes(i.name, i.value) - coalesce(attribute_bytes(a.name, a.value), 0))) AS bytes
            FROM unnest(p_apps, p_owners, p_kinds, p_names, p_values) AS i(app, owner, kind, name, value)
            LEFT JOIN channel_attributes a ON a.app = i.app COLLATE "C" AND a.channel = i.owner COLLATE "C"
                AND a.name = i.name COLLATE "C"
            WHERE i.kind = 'update' GROUP BY 1, 2
        ) u
        JOIN channel_attribute_versions v ON v.app = u.app AND v.channel = u.owner
        WHERE (u.attributes > 0 AND v.attributes + u.attributes > attributes_bound())
            OR (u.bytes > 0 AND v.bytes + u.bytes > attribute_bytes_bound())
    ) THEN
        IF cardinality(p_commands) > 1 THEN
            FOR i IN 1 .. cardinality(p_commands) LOOP
                RETURN QUERY
                SELECT i::bigint, c.version FROM change_channel_attributes(
                    p_commands[i:i], p_apps[i:i], p_owners[i:i], p_kinds[i:i], p_names[i:i], p_values[i:i], p_accounts[i:i]) c;
            END LOOP;
            RETURN;
        END IF;
        -- What an owner holds already may be changed as long as it does not grow.
        IF NOT EXISTS (SELECT FROM applied_commands a WHERE a.command = p_commands[1] COLLATE "C") AND EXISTS (
            SELECT FROM channel_attribute_versions v
            LEFT JOIN channel_attributes a
                ON a.app = v.app AND a.channel = v.channel AND a.name = p_names[1] COLLATE "C"
            WHERE v.app = p_apps[1] COLLATE "C" AND v.channel = p_owners[1] COLLATE "C" AND (
                (a.name IS NULL AND v.attributes >= attributes_bound())
                OR (v.bytes + attribute_bytes(p_names[1], p_values[1])
                        - coalesce(attribute_bytes(a.name, a.value), 0) > attribute_bytes_bound()
                    AND attribute_bytes(p_names[1], p_values[1]) > coalesce(attribute_bytes(a.name, a.value), 0)))
        ) THEN
            RETURN QUERY SELECT 1::bigint, 0::bigint;
            RETURN;
        END IF;
    END IF;

    RETURN QUERY
    WITH input AS (
        SELECT i.command COLLATE "C" AS command, i.app COLLATE "C" AS app, i.owner COLLATE "C" AS owner, i.kind,
            i.name COLLATE "C" AS name, i.value, i.updated_by, i.ordinal
        FROM unnest(p_commands, p_apps, p_owners, p_kinds, p_names, p_values, p_accounts) WITH ORDINALITY
            AS i(command, app, owner, kind, name, value, updated_by, ordinal)
    ), fresh AS (
        SELECT DISTINCT ON (i.command) i.* FROM input i
        WHERE NOT EXISTS (SELECT FROM applied_commands a WHERE a.command = i.command)
        ORDER BY i.command, i.ordinal
    ), numbered AS (
        SELECT f.*, v.version + row_number() OVER (PARTITION BY v.app, v.channel ORDER BY f.ordinal) AS version
        FROM fresh f
        JOIN channel_attribute_versions v ON v.app = f.app AND v.channel = f.owner
    ), cleared AS (
        SELECT n.app, n.owner, max(n.ordinal) AS ordinal FROM numbered n WHERE n.kind = 'clear' GROUP BY 1, 2
    ), last_change AS (
        SELECT DISTINCT ON (n.app, n.owner, n.name) n.* FROM numbered n
        LEFT JOIN cleared c ON c.app = n.app AND c.owner = n.owner
        WHERE n.kind <> 'clear' AND n.ordinal > coalesce(c.ordinal, 0)
        ORDER BY n.app, n.owner, n.name, n.ordinal DESC
    ), former AS (
        SELECT l.app, l.owner, attribute_bytes(a.name, a.value) AS bytes FROM last_change l
        JOIN channel_attributes a ON a.app = l.app AND a.channel = l.owner AND a.name = l.name
        WHERE l.kind = 'update'
    ), removed AS (
        -- Rows that are written below must not be touched here: a statement can change a row only once.
        DELETE FROM channel_attributes a USING (
            SELECT x.app, x.channel, x.name FROM channel_attributes x
            JOIN cleared c ON x.app = c.app AND x.channel = c.owner
            WHERE NOT EXISTS (
                SELECT FROM last_change l WHERE l.app = c.app AND l.owner = c.owner
                AND x.name = l.name AND l.kind = 'update')
            UNION
            SELECT l.app, l.owner, l.name FROM last_change l
            WHERE l.kind = 'delete'
        ) d WHERE a.app = d.app AND a.channel = d.channel AND a.name = d.name
        RETURNING a.app, a.channel AS owner, attribute_bytes(a.name, a.value) AS bytes
    ), written AS (
        INSERT INTO channel_attributes (app, channel, name, value, version, updated_by)
        SELECT l.app, l.owner, l.name, l.value, l.version, l.updated_by FROM last_change l WHERE l.kind = 'update'
        ON CONFLICT (app, channel, name) DO UPDATE SET
            value = EXCLUDED.value, version = EXCLUDED.version, updated_at = now(), updated_by = EXCLUDED.updated_by
    ), remembered AS (
        INSERT INTO applied_commands (command, version) SELECT n.command, n.version FROM numbered n
        ON CONFLICT (command) DO NOTHING
    ), difference AS (
        SELECT d.app, d.owner, sum(d.attributes) AS attributes, sum(d.bytes) AS bytes FROM (
            SELECT l.app, l.owner, 1 AS attributes, attribute_bytes(l.name, l.value) AS bytes
            FROM last_change l WHERE l.kind = 'update'
            UNION ALL SELECT f.app, f.owner, -1, -f.bytes FROM former f
            UNION ALL SELECT r.app, r.owner, -1, -r.bytes FROM removed r
        ) d GROUP BY 1, 2
    ), advanced AS (
        UPDATE channel_attribute_versions v SET version = t.version, updated_at = now(),
            attributes = v.attributes + coalesce(t.attributes, 0), bytes = v.bytes + coalesce(t.bytes, 0)
        FROM (
            SELECT n.app, n.owner, n.version, d.attributes, d.bytes FROM (
                SELECT n.app, n.owner, max(n.version) AS version FROM numbered n GROUP BY 1, 2
            ) n
            LEFT JOIN difference d ON d.app = n.app AND d.owner = n.owner
        ) t
        WHERE v.app = t.app AND v.channel = t.owner
    )
    SELECT i.ordinal, coalesce(n.version, a.version) FROM input i
    LEFT JOIN numbered n ON n.command = i.command
    LEFT JOIN applied_commands a ON a.command = i.command
    ORDER BY i.ordinal;
END $$;

CREATE OR REPLACE FUNCTION change_user_attributes(
    p_commands text[], p_apps text[], p_owners text[], p_kinds text[], p_names text[], p_values text[]
) RETURNS TABLE (ordinal bigint, version bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    -- Locks every owner, in the same order in all concurrent batches, so that they wait but never in a circle. The
    -- statements below then see all that was committed before.
    INSERT INTO user_attribute_versions AS v (app, account, version)
    SELECT DISTINCT i.app COLLATE "C", i.owner COLLATE "C", (extract(epoch FROM now()) * 1000)::bigint
    FROM unnest(p_apps, p_owners) AS i(app, owner)
    ORDER BY 1, 2
    ON CONFLICT (app, account) DO UPDATE SET version = v.version;

    -- Where an owner could pass its bounds, each change is looked at by itself, in their order.
    IF EXISTS (
        SELECT FROM (
            SELECT i.app COLLATE "C" AS app, i.owner COLLATE "C" AS owner, count(*) FILTER (WHERE a.name IS NULL) AS attributes,
                sum(greatest(0, attribute_bytes(i.name, i.value) - coalesce(attribute_bytes(a.name, a.value), 0))) AS bytes
            FROM unnest(p_apps, p_owners, p_kinds, p_names, p_values) AS i(app, owner, kind, name, value)
            LEFT JOIN user_attributes a ON a.app = i.app COLLATE "C" AND a.account = i.owner COLLATE "C"
                AND a.name = i.name COLLATE "C"
            WHERE i.kind = 'update' GROUP BY 1, 2
        ) u
        JOIN user_attribute_versions v ON v.app = u.app AND v.account = u.owner
        WHERE (u.attributes > 0 AND v.attributes + u.attributes > attributes_bound())
            OR (u.bytes > 0 AND v.bytes + u.bytes > attribute_bytes_bound())
    ) THEN
        IF cardinality(p_commands) > 1 THEN
            FOR i IN 1 .. cardinality(p_commands) LOOP
                RETURN QUERY
                SELECT i::bigint, c.version FROM change_user_attributes(
                    p_commands[i:i], p_apps[i:i], p_owners[i:i], p_kinds[i:i], p_names[i:i], p_values[i:i]) c;
            END LOOP;
            RETURN;
        END IF;
        -- What an owner holds already may be changed as long as it does not grow.
        IF NOT EXISTS (SELECT FROM applied_commands a WHERE a.command = p_commands[1] COLLATE "C") AND EXISTS (
            SELECT FROM user_attribute_versions v
            LEFT JOIN user_attributes a
                ON a.app = v.app AND a.account = v.account AND a.name = p_names[1] COLLATE "C"
            WHERE v.app = p_apps[1] COLLATE "C" AND v.account = p_owners[1] COLLATE "C" AND (
                (a.name IS NULL AND v.attributes >= attributes_bound())
                OR (v.bytes + attribute_bytes(p_names[1], p_values[1])
                        - coalesce(attribute_bytes(a.name, a.value), 0) > attribute_bytes_bound()
                    AND attribute_bytes(p_names[1], p_values[1]) > coalesce(attribute_bytes(a.name, a.value), 0)))
        ) THEN
            RETURN QUERY SELECT 1::bigint, 0::bigint;
            RETURN;
        END IF;
    END IF;

    RETURN QUERY
    WITH input AS (
        SELECT i.command COLLATE "C" AS command, i.app COLLATE "C" AS app, i.owner COLLATE "C" AS owner, i.kind,
            i.name COLLATE "C" AS name, i.value, i.ordinal
        FROM unnest(p_commands, p_apps, p_owners, p_kinds, p_names, p_values) WITH ORDINALITY
            AS i(command, app, owner, kind, name, value, ordinal)
    ), fresh AS (
        SELECT DISTINCT ON (i.command) i.* FROM input i
        WHERE NOT EXISTS (SELECT FROM applied_commands a WHERE a.command = i.command)
        ORDER BY i.command, i.ordinal
    ), numbered AS (
        SELECT f.*, v.version + row_number() OVER (PARTITION BY v.app, v.account ORDER BY f.ordinal) AS version
        FROM fresh f
        JOIN user_attribute_versions v ON v.app = f.app AND v.account = f.owner
    ), cleared AS (
        SELECT n.app, n.owner, max(n.ordinal) AS ordinal FROM numbered n WHERE n.kind = 'clear' GROUP BY 1, 2
    ), last_change AS (
        SELECT DISTINCT ON (n.app, n.owner, n.name) n.* FROM numbered n
        LEFT JOIN cleared c ON c.app = n.app AND c.owner = n.owner
        WHERE n.kind <> 'clear' AND n.ordinal > coalesce(c.ordinal, 0)
        ORDER BY n.app, n.owner, n.name, n.ordinal DESC
    ), former AS (
        SELECT l.app, l.owner, attribute_bytes(a.name, a.value) AS bytes FROM last_change l
        JOIN user_attributes a ON a.app = l.app AND a.account = l.owner AND a.name = l.name
        WHERE l.kind = 'update'
    ), removed AS (
        -- Rows that are written below must not be touched here: a statement can change a row only once.
        DELETE FROM user_attributes a USING (
            SELECT x.app, x.account, x.name FROM user_attributes x
            JOIN cleared c ON x.app = c.app AND x.account = c.owner
            WHERE NOT EXISTS (
                SELECT FROM last_change l WHERE l.app = c.app AND l.owner = c.owner
                AND x.name = l.name AND l.kind = 'update')
            UNION
            SELECT l.app, l.owner, l.name FROM last_change l
            WHERE l.kind = 'delete'
        ) d WHERE a.app = d.app AND a.account = d.account AND a.name = d.name
        RETURNING a.app, a.account AS owner, attribute_bytes(a.name, a.value) AS bytes
    ), written AS (
        INSERT INTO user_attributes (app, account, name, value, version)
        SELECT l.app, l.owner, l.name, l.value, l.version FROM last_change l WHERE l.kind = 'update'
        ON CONFLICT (app, account, name) DO UPDATE SET
            value = EXCLUDED.value, version = EXCLUDED.version, updated_at = now()
    ), remembered AS (
        INSERT INTO applied_commands (command, version) SELECT n.command, n.version FROM numbered n
        ON CONFLICT (command) DO NOTHING
    ), difference AS (
        SELECT d.app, d.owner, sum(d.attributes) AS attributes, sum(d.bytes) AS bytes FROM (
            SELECT l.app, l.owner, 1 AS attributes, attribute_bytes(l.name, l.value) AS bytes
            FROM last_change l WHERE l.kind = 'update'
            UNION ALL SELECT f.app, f.owner, -1, -f.bytes FROM former f
            UNION ALL SELECT r.app, r.owner, -1, -r.bytes FROM removed r
        ) d GROUP BY 1, 2
    ), advanced AS (
        UPDATE user_attribute_versions v SET version = t.version, updated_at = now(),
            attributes = v.attributes + coalesce(t.attributes, 0), bytes = v.bytes + coalesce(t.bytes, 0)
        FROM (
            SELECT n.app, n.owner, n.version, d.attributes, d.bytes FROM (
                SELECT n.app, n.owner, max(n.version) AS version FROM numbered n GROUP BY 1, 2
            ) n
            LEFT JOIN difference d ON d.app = n.app AND d.owner = n.owner
        ) t
        WHERE v.app = t.app AND v.account = t.owner
    )
    SELECT i.ordinal, coalesce(n.version, a.version) FROM input i
    LEFT JOIN numbered n ON n.command = i.command
    LEFT JOIN applied_commands a ON a.command = i.command
    ORDER BY i.ordinal;
END $$;
