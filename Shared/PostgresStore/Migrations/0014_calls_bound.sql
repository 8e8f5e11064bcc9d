-- expand, readers_from 1
-- The first of three steps that divide the table of calls by month, without copying it (0014 to 0016, Docs/decisions/0019). Each is
-- a transaction of its own, so that the check is committed before 0015 reads the whole table.
--
-- From now on `calls` takes only calls that started before the month after next. Those of later months exist only where a clock was
-- wrong; they move to the table that 0016 makes the one for calls without a month.
SET LOCAL enable_seqscan = off;
LOCK TABLE calls IN ACCESS EXCLUSIVE MODE;
CREATE TABLE calls_rest (LIKE calls INCLUDING DEFAULTS);
DO $$
DECLARE
    -- At the earliest four weeks from now. Months begin at 00:00 UTC.
    bound timestamptz := date_trunc('month', now() AT TIME ZONE 'UTC' + interval '2 months') AT TIME ZONE 'UTC';
BEGIN
    WITH late AS (DELETE FROM calls WHERE started_at >= bound RETURNING *)
    INSERT INTO calls_rest SELECT * FROM late;
    EXECUTE format('ALTER TABLE calls ADD CONSTRAINT calls_bound CHECK (started_at < %L) NOT VALID', bound);
END $$;
