-- expand, readers_from 1
-- As before (0008), but a known user's last_seen is written at most once a day, so that the login of a known user is usually a
-- read: it writes nothing and waits for no standby.
CREATE OR REPLACE FUNCTION user_uids_for(p_apps text[], p_accounts text[])
RETURNS TABLE (ordinal bigint, uid bigint) LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
BEGIN
    INSERT INTO users (app, account, uid)
    SELECT n.app, n.account, nextval('user_uids') FROM (
        SELECT DISTINCT i.app COLLATE "C" AS app, i.account COLLATE "C" AS account
        FROM unnest(p_apps, p_accounts) AS i(app, account)
    ) n
    WHERE NOT EXISTS (SELECT FROM users u WHERE u.app = n.app AND u.account = n.account)
    ORDER BY n.app, n.account
    ON CONFLICT (app, account) DO NOTHING;

    WITH known AS (
        SELECT u.app, u.account FROM users u
        JOIN (
            SELECT DISTINCT i.app COLLATE "C" AS app, i.account COLLATE "C" AS account
            FROM unnest(p_apps, p_accounts) AS i(app, account)
        ) i ON u.app = i.app AND u.account = i.account
        WHERE u.last_seen < now() - interval '1 day'
        ORDER BY u.app, u.account FOR UPDATE OF u
    )
    UPDATE users u SET last_seen = now() FROM known k WHERE u.app = k.app AND u.account = k.account;

    RETURN QUERY
    SELECT i.ordinal, u.uid FROM unnest(p_apps, p_accounts) WITH ORDINALITY AS i(app, account, ordinal)
    JOIN users u ON u.app = i.app COLLATE "C" AND u.account = i.account COLLATE "C"
    ORDER BY i.ordinal;
END $$;
