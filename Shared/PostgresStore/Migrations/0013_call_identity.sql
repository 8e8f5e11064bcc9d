-- expand, readers_from 1
-- The key that calls get when a later release divides the table by time: every key of a partitioned table contains the time. The
-- processes of this release use it already, so that they can write into the divided table too.
CREATE UNIQUE INDEX calls_by_identity ON calls (app, id, started_at);
