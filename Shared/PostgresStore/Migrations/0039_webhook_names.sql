-- expand, readers_from 1
-- An app has several webhooks, each with a name, a queue, failures and dead letters of its own (Docs/decisions/0043).

ALTER TABLE webhooks ADD COLUMN name text COLLATE "C" NOT NULL DEFAULT 'default' CHECK (name ~ '^[a-z][a-z0-9-]{0,31}$');
COMMENT ON COLUMN webhooks.name IS 'Its name among the app''s webhooks.';

-- Rows of before are those of the webhook with the standard name.
ALTER TABLE webhook_events ADD COLUMN webhook text COLLATE "C" NOT NULL DEFAULT 'default';
ALTER TABLE webhook_dead ADD COLUMN webhook text COLLATE "C" NOT NULL DEFAULT 'default';
ALTER TABLE webhook_requests ADD COLUMN webhook text COLLATE "C" NOT NULL DEFAULT 'default';

ALTER TABLE webhook_events DROP CONSTRAINT webhook_events_app_fkey, DROP CONSTRAINT webhook_events_pkey;
ALTER TABLE webhook_requests DROP CONSTRAINT webhook_requests_app_fkey, DROP CONSTRAINT webhook_requests_pkey;
ALTER TABLE webhook_dead DROP CONSTRAINT webhook_dead_pkey;
ALTER TABLE webhooks DROP CONSTRAINT webhooks_pkey;
ALTER TABLE webhooks ADD PRIMARY KEY (app, name);
ALTER TABLE webhook_dead ADD PRIMARY KEY (app, webhook, at, id);
ALTER TABLE webhook_events ADD PRIMARY KEY (app, webhook, at, id),
    ADD FOREIGN KEY (app, webhook) REFERENCES webhooks (app, name) ON DELETE CASCADE;
ALTER TABLE webhook_requests ADD PRIMARY KEY (app, webhook, id),
    ADD FOREIGN KEY (app, webhook) REFERENCES webhooks (app, name) ON DELETE CASCADE;
DROP INDEX webhook_events_by_age;
CREATE INDEX webhook_events_by_age ON webhook_events (app, webhook, queued_at);
COMMENT ON INDEX webhook_events_by_age IS 'What waits in a webhook''s queue, by age';

CREATE OR REPLACE VIEW webhook_backlog AS
SELECT w.app, split_part(w.url, '?', 1) AS url, w.kinds, e.events, e.oldest, d.dead, w.attempts, w.failing_since, w.last_error,
    w.next_attempt_at, w.delivered_at, w.name AS webhook
FROM webhooks w
CROSS JOIN LATERAL (
    SELECT count(*) AS events, min(queued_at) AS oldest FROM webhook_events q WHERE q.app = w.app AND q.webhook = w.name) e
CROSS JOIN LATERAL (SELECT count(*) AS dead FROM webhook_dead q WHERE q.app = w.app AND q.webhook = w.name) d;

CREATE OR REPLACE VIEW webhook_dead_letters AS
SELECT d.app, d.id, d.kind, to_timestamp(d.at / 1000000.0) AS happened_at, d.queued_at, d.died_at, d.error, d.body, d.webhook
FROM webhook_dead d;

CREATE OR REPLACE VIEW webhook_deliveries AS
SELECT r.app, r.id, r.at, r.events, r.attempt, r.status, r.error, r.duration_ms, r.webhook FROM webhook_requests r;

DO $$
DECLARE
    v_relation text;
BEGIN
    FOREACH v_relation IN ARRAY ARRAY[
        'webhook_events', 'webhook_dead', 'webhook_requests', 'webhook_backlog', 'webhook_dead_letters', 'webhook_deliveries']
    LOOP
        EXECUTE format('COMMENT ON COLUMN %I.webhook IS %L', v_relation, 'The name of the app''s webhook.');
    END LOOP;
END $$;
COMMENT ON TABLE webhooks IS 'Where events of apps are sent by HTTP, set by heliographctl webhook set, and how that is going.';
COMMENT ON TABLE webhook_requests IS 'The latest requests to receivers of webhooks: 1,000 of a webhook, for 3 days. See the view webhook_deliveries.';
COMMENT ON VIEW webhook_deliveries IS 'The latest requests to receivers of webhooks, without their bodies: 1,000 of a webhook, for 3 days.';
COMMENT ON VIEW webhook_backlog IS 'Each webhook: what waits, and since when it fails.';
COMMENT ON VIEW webhook_dead_letters IS 'Events that no receiver took for a day, or that exceeded a webhook''s backlog.';

-- The audit trail notes which of the app's webhooks, also at its removal; not of what goes with its app.
DROP TRIGGER note_act ON webhooks;
CREATE TRIGGER note_act AFTER INSERT OR UPDATE OF url, secret, kinds, batch, allow_private, allow_loopback, message_text ON webhooks
    FOR EACH ROW EXECUTE FUNCTION note_row_act('webhook', 'app', 'app', 'name,url,kinds,batch,allow_private,allow_loopback,message_text');
CREATE FUNCTION note_webhook_removal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM apps a WHERE a.id = OLD.app) THEN
        PERFORM note_act('webhook.remove', OLD.app, OLD.app, jsonb_build_object('name', OLD.name), NULL);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER note_removal AFTER DELETE ON webhooks FOR EACH ROW EXECUTE FUNCTION note_webhook_removal();
COMMENT ON FUNCTION note_webhook_removal() IS 'Notes in the audit trail that a webhook was removed';
