-- Applies a batch of changes to attributes of channels, in the order of the arrays, and answers each with the owner's
-- version after it. A command that was applied before answers with its version of then and changes nothing.
--
-- p_kinds: 'update' (name and value), 'delete' (name) or 'clear'. A new owner's version starts at the clock, in
-- milliseconds.
CREATE FUNCTION change_channel_attributes(
    p_commands text[], p_apps text[], p_owners text[], p_kinds text[], p_names text[], p_values text[],
    p_accounts text[]
) RETURNS TABLE (ordinal bigint, version bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    -- Locks every owner, in the same order in all concurrent batches, so that they wait but never in a circle. The
    -- statement below then sees all that was committed before.
    INSERT INTO channel_attribute_versions AS v (app, channel, version)
    SELECT DISTINCT i.app COLLATE "C", i.owner COLLATE "C", (extract(epoch FROM now()) * 1000)::bigint
    FROM unnest(p_apps, p_owners) AS i(app, owner)
    ORDER BY 1, 2
    ON CONFLICT (app, channel) DO UPDATE SET version = v.version;

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
    ), written AS (
        INSERT INTO channel_attributes (app, channel, name, value, version, updated_by)
        SELECT l.app, l.owner, l.name, l.value, l.version, l.updated_by FROM last_change l WHERE l.kind = 'update'
        ON CONFLICT (app, channel, name) DO UPDATE SET
            value = EXCLUDED.value, version = EXCLUDED.version, updated_at = now(), updated_by = EXCLUDED.updated_by
    ), remembered AS (
        INSERT INTO applied_commands (command, version) SELECT n.command, n.version FROM numbered n
        ON CONFLICT (command) DO NOTHING
    ), advanced AS (
        UPDATE channel_attribute_versions v SET version = t.version
        FROM (SELECT n.app, n.owner, max(n.version) AS version FROM numbered n GROUP BY 1, 2) t
        WHERE v.app = t.app AND v.channel = t.owner
    )
    SELECT i.ordinal, coalesce(n.version, a.version) FROM input i
    LEFT JOIN numbered n ON n.command = i.command
    LEFT JOIN applied_commands a ON a.command = i.command
    ORDER BY i.ordinal;
END $$;
