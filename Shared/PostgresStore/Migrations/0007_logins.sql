-- What a login reads, by primary keys, whatever the planner thinks of tables that it has not counted yet: a scan of a new
-- cluster's users at each batch of logins would cost more with every user.
ALTER FUNCTION user_uids_for(text[], text[]) SET enable_seqscan = off;
ALTER FUNCTION user_uids_for(text[], text[]) SET enable_hashjoin = off;
ALTER FUNCTION user_uids_for(text[], text[]) SET enable_mergejoin = off;

-- The attributes of many users: a row per attribute, one without name for a user who has a version but no attribute, none
-- for a user who never had one.
CREATE FUNCTION user_attributes_of(p_apps text[], p_accounts text[])
RETURNS TABLE (ordinal bigint, version bigint, name text, value text) LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT i.ordinal, v.version, a.name, a.value
    FROM unnest(p_apps, p_accounts) WITH ORDINALITY AS i(app, account, ordinal)
    JOIN user_attribute_versions v ON v.app = i.app COLLATE "C" AND v.account = i.account COLLATE "C"
    LEFT JOIN user_attributes a ON a.app = v.app AND a.account = v.account
    ORDER BY i.ordinal, a.name;
END $$;

-- Both at once, of users who log in: a row per user at least.
CREATE FUNCTION user_logins(p_apps text[], p_accounts text[])
RETURNS TABLE (ordinal bigint, uid bigint, version bigint, name text, value text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT u.ordinal, u.uid, a.version, a.name, a.value
    FROM user_uids_for(p_apps, p_accounts) u
    LEFT JOIN user_attributes_of(p_apps, p_accounts) a ON a.ordinal = u.ordinal
    ORDER BY u.ordinal, a.name;
END $$;
