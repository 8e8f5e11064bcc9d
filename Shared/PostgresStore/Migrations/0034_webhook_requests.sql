-- expand, readers_from 1
-- A webhook's secret is replaced without a gap, and each request to a receiver is noted (Docs/decisions/0026).

ALTER TABLE webhooks ADD COLUMN former_secret text CHECK (octet_length(former_secret) BETWEEN 16 AND 128);
ALTER TABLE webhooks ADD COLUMN former_secret_until timestamptz;
COMMENT ON COLUMN webhooks.former_secret IS 'The secret before this one: signs the requests too, for some time after it was replaced.';
COMMENT ON COLUMN webhooks.former_secret_until IS 'Until when it does.';

CREATE SEQUENCE webhook_request_ids AS bigint;
CREATE TABLE webhook_requests (
    app         text COLLATE "C" NOT NULL REFERENCES webhooks (app) ON DELETE CASCADE,
    id          bigint NOT NULL DEFAULT nextval('webhook_request_ids'),
    at          timestamptz NOT NULL,
    events      integer NOT NULL,
    attempt     bigint NOT NULL,
    status      integer,
    error       text,
    duration_ms bigint NOT NULL,
    PRIMARY KEY (app, id)
);
CREATE INDEX webhook_requests_by_time ON webhook_requests (at);

CREATE VIEW webhook_deliveries AS
SELECT r.app, r.id, r.at, r.events, r.attempt, r.status, r.error, r.duration_ms FROM webhook_requests r;

COMMENT ON SEQUENCE webhook_request_ids IS 'The ids of requests to receivers of webhooks';
COMMENT ON TABLE webhook_requests IS 'The latest requests to receivers of webhooks: 1,000 of an app, for 3 days. See the view webhook_deliveries.';
COMMENT ON INDEX webhook_requests_by_time IS 'Those that are too old';
COMMENT ON VIEW webhook_deliveries IS 'The latest requests to receivers of webhooks, without their bodies: 1,000 of an app, for 3 days.';
DO $$
DECLARE
    v_relation text;
    v_column   text[];
BEGIN
    FOREACH v_relation IN ARRAY ARRAY['webhook_requests', 'webhook_deliveries'] LOOP
        FOREACH v_column SLICE 1 IN ARRAY ARRAY[
            ['app', 'The app.'], ['id', 'Rises with each request of an app.'], ['at', 'When the request began.'],
            ['events', 'How many events it had.'], ['attempt', '1 for the first request with these events, 2 for its first repetition ...'],
            ['status', 'The status of the answer; NULL without one.'], ['error', 'Why the events were not taken; NULL when they were.'],
            ['duration_ms', 'Milliseconds from the look-up of the receiver''s name to the end of its answer.']
        ] LOOP
            EXECUTE format('COMMENT ON COLUMN %I.%I IS %L', v_relation, v_column[1], v_column[2]);
        END LOOP;
    END LOOP;
END $$;

-- The audit trail notes whether messages are told with their texts, too.
DROP TRIGGER note_act ON webhooks;
CREATE TRIGGER note_act AFTER INSERT OR DELETE OR UPDATE OF url, secret, kinds, batch, allow_private, allow_loopback, message_text ON webhooks
    FOR EACH ROW EXECUTE FUNCTION note_row_act('webhook', 'app', 'app', 'url,kinds,batch,allow_private,allow_loopback,message_text');
