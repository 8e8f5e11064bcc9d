-- expand, readers_from 1
-- The triggers join the old and new rows of a statement. Their plans are kept, and the first statement of a connection usually has one row: for it, a nested loop
-- is best, and a batch of hundreds of rows then compares each with each, 60 us a login.
ALTER FUNCTION tally_sessions() SET enable_nestloop = off;
ALTER FUNCTION tally_members() SET enable_nestloop = off;

-- Users are counted a minute after their first login, since a login may be committed later than one with a higher uid. While very many were new, every
-- batch of the mirror read all of them to find that none was old enough. Now the one that would make a count worthwhile is looked at first, and a batch counts
-- ten times p_least users at most.
CREATE OR REPLACE FUNCTION count_new_users(p_least bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_from bigint;
    v_to   bigint;
BEGIN
    -- Whoever else counts or removes users at this moment does it alone.
    SELECT c.uid INTO v_from FROM counted_users c FOR UPDATE SKIP LOCKED;
    IF v_from IS NULL OR NOT coalesce((
        SELECT u.first_seen < now() - interval '1 minute' FROM users u
        WHERE u.uid >= v_from + greatest(p_least, 1) ORDER BY u.uid LIMIT 1), false)
    THEN
        RETURN 0;
    END IF;
    SELECT max(n.uid) INTO v_to FROM (
        SELECT u.uid, u.first_seen FROM users u WHERE u.uid > v_from ORDER BY u.uid
        LIMIT CASE WHEN p_least > 1 THEN 10 * p_least END) n
    WHERE n.first_seen < now() - interval '1 minute';
    INSERT INTO app_users AS a (app, users)
    SELECT u.app, count(*) FROM users u WHERE u.uid > v_from AND u.uid <= v_to GROUP BY 1 ORDER BY 1
    ON CONFLICT (app) DO UPDATE SET users = a.users + EXCLUDED.users;
    UPDATE counted_users SET uid = v_to;
    RETURN v_to - v_from;
END $$;
