-- expand, readers_from 1
-- What operators ask of large tables (Docs/psql.md) is found by an index; Benchmarks/run psql measures it.

-- Who is on a gateway, for example one that is drained? Few are, so that the whole table would be read. 7 MB for a million sessions, made
-- within a second, for which the mirror waits.
CREATE INDEX presence_sessions_by_gateway ON presence_sessions (gateway) WHERE present;
COMMENT ON INDEX presence_sessions_by_gateway IS 'The users of a gateway';

-- Since when does a channel have members (the column oldest_join of the view `channels`), and who joined last? Without it all members of
-- each channel that is shown are read.
CREATE INDEX channel_members_by_join ON channel_members (app, channel, joined_at) WHERE present;
COMMENT ON INDEX channel_members_by_join IS 'The members of a channel, by the time of their join';

-- How many events wait, and since when; and which of them are too old, at each request that fails.
CREATE INDEX webhook_events_by_age ON webhook_events (app, queued_at);
COMMENT ON INDEX webhook_events_by_age IS 'What waits in an app''s queue, by age';

-- The calls of a user or a telephone. Large tables of the call log do not get the indexes, because nobody could write calls meanwhile:
-- months to come have them, and so do those of up to 64 MB. Docs/psql.md says how to add them to the others, without a lock.
CREATE INDEX calls_by_caller ON ONLY calls (app, caller, started_at);
CREATE INDEX calls_by_callee ON ONLY calls (app, callee, started_at);
COMMENT ON INDEX calls_by_caller IS 'The calls that a user or telephone made';
COMMENT ON INDEX calls_by_callee IS 'The calls to a user or telephone';
DO $$
DECLARE
    v_name  text;
    v_party text;
BEGIN
    FOR v_name IN SELECT m.name FROM call_months m WHERE m.bytes <= 64 * 1048576 LOOP
        FOREACH v_party IN ARRAY ARRAY['caller', 'callee'] LOOP
            EXECUTE format('CREATE INDEX %I ON %I (app, %I, started_at)', v_name || '_by_' || v_party, v_name, v_party);
            EXECUTE format('ALTER INDEX %I ATTACH PARTITION %I', 'calls_by_' || v_party, v_name || '_by_' || v_party);
        END LOOP;
    END LOOP;
END $$;
