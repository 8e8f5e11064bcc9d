-- Numbers of users, new ones where missing. One call for many; concurrent calls lock rows in the same order.
--
-- A plain upsert would take a number from the sequence at every login and run out of them in a year or two.
CREATE FUNCTION user_uids_for(p_apps text[], p_accounts text[])
RETURNS TABLE (ordinal bigint, uid bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    WITH known AS (
        SELECT u.app, u.account FROM users u
        JOIN (
            SELECT DISTINCT i.app COLLATE "C" AS app, i.account COLLATE "C" AS account
            FROM unnest(p_apps, p_accounts) AS i(app, account)
        ) i ON u.app = i.app AND u.account = i.account
        ORDER BY u.app, u.account FOR UPDATE OF u
    )
    UPDATE users u SET last_seen = now() FROM known k WHERE u.app = k.app AND u.account = k.account;

    INSERT INTO users (app, account, uid)
    SELECT n.app, n.account, nextval('user_uids') FROM (
        SELECT DISTINCT i.app COLLATE "C" AS app, i.account COLLATE "C" AS account
        FROM unnest(p_apps, p_accounts) AS i(app, account)
    ) n
    WHERE NOT EXISTS (SELECT FROM users u WHERE u.app = n.app AND u.account = n.account)
    ORDER BY n.app, n.account
    ON CONFLICT (app, account) DO NOTHING;

    RETURN QUERY
    SELECT i.ordinal, u.uid FROM unnest(p_apps, p_accounts) WITH ORDINALITY AS i(app, account, ordinal)
    JOIN users u ON u.app = i.app COLLATE "C" AND u.account = i.account COLLATE "C"
    ORDER BY i.ordinal;
END $$;
