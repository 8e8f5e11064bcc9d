-- Telephones: whom an app's users may call, as whom, how often and for how long; what the trunk says of its callers.

ALTER TABLE sip_trunks
    -- NULL: nothing was said. 'any', or starts of numbers with spaces between them.
    ADD COLUMN callees            text,
    ADD COLUMN callers            text,
    ADD COLUMN calls_per_user     integer NOT NULL DEFAULT 10 CHECK (calls_per_user >= 0),
    ADD COLUMN new_calls_per_user integer NOT NULL DEFAULT 30 CHECK (new_calls_per_user >= 0),
    ADD COLUMN calls_per_app      integer NOT NULL DEFAULT 100 CHECK (calls_per_app >= 0),
    ADD COLUMN new_calls_per_app  integer NOT NULL DEFAULT 1000 CHECK (new_calls_per_app >= 0),
    -- Seconds.
    ADD COLUMN longest_call       integer NOT NULL DEFAULT 14400 CHECK (longest_call BETWEEN 1 AND 43200),
    -- A URI and a word of RFC 3323.
    ADD COLUMN asserted_identity  text,
    ADD COLUMN privacy            text;

-- Who is told when a call is found to be lost.
ALTER TABLE calls ADD COLUMN caller_session text, ADD COLUMN callee_session text;
-- Calls without an end are looked for every few seconds, old ones to be removed once an hour.
CREATE INDEX calls_open ON calls (started_at, app, id) WHERE ended_at IS NULL;
CREATE INDEX calls_by_time ON calls (started_at);
