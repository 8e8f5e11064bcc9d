-- expand, readers_from 1
-- The role `heliograph_reader`, which may read the views and all columns without secrets, and write nothing (Docs/psql.md). A user who may
-- not create roles gets the tables without it; `heliographctl migrate` then says what a superuser has to run.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = 'heliograph_reader') THEN
        CREATE ROLE heliograph_reader NOLOGIN;
        COMMENT ON ROLE heliograph_reader IS 'Reads Heliograph''s views and tables, without secrets';
    END IF;
EXCEPTION
    -- Another database of the server has just made it, or this user may not.
    WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN NULL;
END $$;

-- Gives the role what it may read. Run after each migration: privileges by default (ALTER DEFAULT PRIVILEGES) do not tell views from
-- tables, and a later table may hold secrets. False when the role does not exist.
CREATE FUNCTION grant_reader() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_view name;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = 'heliograph_reader') THEN
        RETURN false;
    END IF;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO heliograph_reader', current_schema());
    FOR v_view IN
        SELECT c.relname FROM pg_class c
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'v' AND pg_has_role(c.relowner, 'USAGE')
            AND NOT has_table_privilege('heliograph_reader', c.oid, 'SELECT')
    LOOP
        EXECUTE format('GRANT SELECT ON %I TO heliograph_reader', v_view);
    END LOOP;
    GRANT SELECT ON schema_migrations, users, user_attributes, user_attribute_versions, channel_attributes, channel_attribute_versions,
        sip_numbers, channel_members, channel_sizes, app_channels, gateway_sessions, app_logins, app_users, counted_users,
        mirror_writes, attribute_history, retention, waiting_mail, calls, presence_sessions TO heliograph_reader;
    -- Of tables with secrets, the other columns.
    GRANT SELECT (id, token_required, limits, created_at) ON apps TO heliograph_reader;
    GRANT SELECT (app, host, port, transport, from_domain, register, dtmf, srtp, ring_seconds, accept_digest, trace, updated_at, callees,
        callers, calls_per_user, new_calls_per_user, calls_per_app, new_calls_per_app, longest_call, asserted_identity, privacy)
        ON sip_trunks TO heliograph_reader;
    RETURN true;
END $$;
COMMENT ON FUNCTION grant_reader() IS
    'Lets the role heliograph_reader read all views, and the tables without secrets; heliographctl migrate calls it. False: no such role';
SELECT grant_reader();
