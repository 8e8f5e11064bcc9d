-- expand, readers_from 1
-- One change of an attribute, as change_user_attributes makes it, if the attribute has the value p_expected (NULL: if it is not set).
-- Each array has one element. Returns the owner's version after it, 0 as change_user_attributes does, or -1 when the attribute is
-- not as expected. A command that was applied before gets its version again.
CREATE FUNCTION change_user_attribute_if(
    p_commands text[], p_apps text[], p_owners text[], p_kinds text[], p_names text[], p_values text[], p_expected text
) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    -- Locks the owner, as change_user_attributes does; what is read afterwards cannot change before the commit.
    INSERT INTO user_attribute_versions AS v (app, account, version)
    VALUES (p_apps[1], p_owners[1], (extract(epoch FROM now()) * 1000)::bigint)
    ON CONFLICT (app, account) DO UPDATE SET version = v.version;
    IF NOT EXISTS (SELECT FROM applied_commands a WHERE a.command = p_commands[1] COLLATE "C") AND (
        SELECT a.value FROM user_attributes a
        WHERE a.app = p_apps[1] COLLATE "C" AND a.account = p_owners[1] COLLATE "C" AND a.name = p_names[1] COLLATE "C"
    ) IS DISTINCT FROM p_expected THEN
        RETURN -1;
    END IF;
    RETURN (
        SELECT c.version FROM change_user_attributes(p_commands, p_apps, p_owners, p_kinds, p_names, p_values) c);
END $$;

-- The same for a channel.
CREATE FUNCTION change_channel_attribute_if(
    p_commands text[], p_apps text[], p_owners text[], p_kinds text[], p_names text[], p_values text[],
    p_accounts text[], p_expected text
) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO channel_attribute_versions AS v (app, channel, version)
    VALUES (p_apps[1], p_owners[1], (extract(epoch FROM now()) * 1000)::bigint)
    ON CONFLICT (app, channel) DO UPDATE SET version = v.version;
    IF NOT EXISTS (SELECT FROM applied_commands a WHERE a.command = p_commands[1] COLLATE "C") AND (
        SELECT a.value FROM channel_attributes a
        WHERE a.app = p_apps[1] COLLATE "C" AND a.channel = p_owners[1] COLLATE "C" AND a.name = p_names[1] COLLATE "C"
    ) IS DISTINCT FROM p_expected THEN
        RETURN -1;
    END IF;
    RETURN (
        SELECT c.version
        FROM change_channel_attributes(p_commands, p_apps, p_owners, p_kinds, p_names, p_values, p_accounts) c);
END $$;

COMMENT ON FUNCTION change_user_attribute_if(text[], text[], text[], text[], text[], text[], text)
    IS 'Compare-and-set of a user''s attribute, for the server API.';
COMMENT ON FUNCTION change_channel_attribute_if(text[], text[], text[], text[], text[], text[], text[], text)
    IS 'Compare-and-set of a channel''s attribute, for the server API.';
