-- expand, readers_from 1
-- The triggers of 0019 on tables that users wait for: a transaction of their own, because they lock these tables while they are made.

-- A channel with attributes has a row in `channel_sizes`, whether it has members or not.
CREATE FUNCTION tally_attributed_channel() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(x'7461732'::bigint);
    IF TG_OP <> 'DELETE' AND NEW.attributes > 0 THEN
        INSERT INTO channel_sizes (app, channel, members) VALUES (NEW.app, NEW.channel, 0) ON CONFLICT DO NOTHING;
    ELSE
        DELETE FROM channel_sizes s WHERE s.app = OLD.app AND s.channel = OLD.channel AND s.members = 0;
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION tally_removed_users() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_counted bigint;
BEGIN
    SELECT c.uid INTO v_counted FROM counted_users c FOR UPDATE;
    UPDATE app_users a SET users = a.users - o.users FROM (
        SELECT r.app, count(*) AS users FROM old_rows r WHERE r.uid <= v_counted GROUP BY 1) o
    WHERE a.app = o.app;
    RETURN NULL;
END $$;

-- Called only where the first attribute of a channel comes, or its last one goes.
CREATE TRIGGER tally_inserted AFTER INSERT ON channel_attribute_versions
    FOR EACH ROW WHEN (NEW.attributes > 0) EXECUTE FUNCTION tally_attributed_channel();
CREATE TRIGGER tally_updated AFTER UPDATE OF attributes ON channel_attribute_versions
    FOR EACH ROW WHEN ((OLD.attributes > 0) <> (NEW.attributes > 0)) EXECUTE FUNCTION tally_attributed_channel();
CREATE TRIGGER tally_deleted AFTER DELETE ON channel_attribute_versions
    FOR EACH ROW WHEN (OLD.attributes > 0) EXECUTE FUNCTION tally_attributed_channel();

CREATE TRIGGER tally_deleted AFTER DELETE ON users REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION tally_removed_users();
