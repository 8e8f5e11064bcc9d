-- expand, readers_from 1
-- What servers of apps are told of by HTTP (Docs/decisions/0026): where to, what waits, and what could not be delivered.

CREATE TABLE webhooks (
    app             text COLLATE "C" PRIMARY KEY REFERENCES apps (id) ON DELETE CASCADE,
    url             text NOT NULL CHECK (octet_length(url) BETWEEN 1 AND 2000),
    secret          text NOT NULL CHECK (octet_length(secret) BETWEEN 16 AND 128),
    kinds           text[] NOT NULL CHECK (cardinality(kinds) BETWEEN 1 AND 16),
    batch           integer NOT NULL DEFAULT 100 CHECK (batch BETWEEN 1 AND 1000),
    allow_private   boolean NOT NULL DEFAULT false,
    created_at      timestamptz NOT NULL DEFAULT now(),
    attempts        bigint NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL DEFAULT now(),
    failing_since   timestamptz,
    last_error      text,
    delivered_at    timestamptz,
    lease           text COLLATE "C",
    lease_until     timestamptz
);

CREATE TABLE webhook_events (
    app       text COLLATE "C" NOT NULL REFERENCES webhooks (app) ON DELETE CASCADE,
    at        bigint NOT NULL,
    id        text COLLATE "C" NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    body      text NOT NULL,
    queued_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app, at, id)
);

CREATE TABLE webhook_dead (
    app       text COLLATE "C" NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    at        bigint NOT NULL,
    id        text COLLATE "C" NOT NULL,
    kind      text COLLATE "C" NOT NULL,
    body      text NOT NULL,
    queued_at timestamptz NOT NULL,
    died_at   timestamptz NOT NULL DEFAULT now(),
    error     text NOT NULL,
    PRIMARY KEY (app, at, id)
);
CREATE INDEX webhook_dead_by_death ON webhook_dead (died_at);

CREATE VIEW webhook_backlog AS
SELECT w.app, split_part(w.url, '?', 1) AS url, w.kinds, e.events, e.oldest, d.dead, w.attempts, w.failing_since, w.last_error,
    w.next_attempt_at, w.delivered_at
FROM webhooks w
CROSS JOIN LATERAL (SELECT count(*) AS events, min(queued_at) AS oldest FROM webhook_events q WHERE q.app = w.app) e
CROSS JOIN LATERAL (SELECT count(*) AS dead FROM webhook_dead q WHERE q.app = w.app) d;

CREATE VIEW webhook_dead_letters AS
SELECT d.app, d.id, d.kind, to_timestamp(d.at / 1000000.0) AS happened_at, d.queued_at, d.died_at, d.error, d.body
FROM webhook_dead d;

COMMENT ON TABLE webhooks IS 'Where an app''s events are sent by HTTP, set by heliographctl webhook set, and how that is going.';
COMMENT ON COLUMN webhooks.app IS 'The app.';
COMMENT ON COLUMN webhooks.url IS 'Where events are posted to.';
COMMENT ON COLUMN webhooks.secret IS 'Signs the requests (HMAC-SHA256).';
COMMENT ON COLUMN webhooks.kinds IS 'The kinds of events that are sent.';
COMMENT ON COLUMN webhooks.batch IS 'How many events one request has at most.';
COMMENT ON COLUMN webhooks.allow_private IS 'Whether the URL may lead into private, loopback and link-local networks.';
COMMENT ON COLUMN webhooks.created_at IS 'When it was first set.';
COMMENT ON COLUMN webhooks.attempts IS 'Requests that have failed since the last success.';
COMMENT ON COLUMN webhooks.next_attempt_at IS 'Before this time nothing is sent.';
COMMENT ON COLUMN webhooks.failing_since IS 'When the first of these requests failed; NULL while requests succeed.';
COMMENT ON COLUMN webhooks.last_error IS 'Why the last of them failed.';
COMMENT ON COLUMN webhooks.delivered_at IS 'When a request last succeeded.';
COMMENT ON COLUMN webhooks.lease IS 'The process that is sending; NULL: none.';
COMMENT ON COLUMN webhooks.lease_until IS 'When another process may take over.';

COMMENT ON TABLE webhook_events IS 'Events that wait for their delivery by webhook.';
COMMENT ON COLUMN webhook_events.app IS 'The app.';
COMMENT ON COLUMN webhook_events.at IS 'When it happened, in microseconds of Redis'' clock: the order of delivery.';
COMMENT ON COLUMN webhook_events.id IS 'The event''s id, the same at each delivery.';
COMMENT ON COLUMN webhook_events.kind IS 'What has happened.';
COMMENT ON COLUMN webhook_events.body IS 'The event as it is sent, a JSON object.';
COMMENT ON COLUMN webhook_events.queued_at IS 'Since when it waits.';

COMMENT ON TABLE webhook_dead IS 'Events that were given up; heliographctl webhook replay queues them again.';
COMMENT ON COLUMN webhook_dead.app IS 'The app.';
COMMENT ON COLUMN webhook_dead.at IS 'When it happened, in microseconds of Redis'' clock.';
COMMENT ON COLUMN webhook_dead.id IS 'The event''s id.';
COMMENT ON COLUMN webhook_dead.kind IS 'What has happened.';
COMMENT ON COLUMN webhook_dead.body IS 'The event as it would be sent, a JSON object.';
COMMENT ON COLUMN webhook_dead.queued_at IS 'Since when it had waited.';
COMMENT ON COLUMN webhook_dead.died_at IS 'When it was given up.';
COMMENT ON COLUMN webhook_dead.error IS 'Why.';

COMMENT ON VIEW webhook_backlog IS 'Each app''s webhook: what waits, and since when it fails.';
COMMENT ON COLUMN webhook_backlog.app IS 'The app.';
COMMENT ON COLUMN webhook_backlog.url IS 'Where events are posted to, without the query.';
COMMENT ON COLUMN webhook_backlog.kinds IS 'The kinds of events that are sent.';
COMMENT ON COLUMN webhook_backlog.events IS 'Events that wait.';
COMMENT ON COLUMN webhook_backlog.oldest IS 'Since when the oldest of them waits; NULL when none does.';
COMMENT ON COLUMN webhook_backlog.dead IS 'Dead letters.';
COMMENT ON COLUMN webhook_backlog.attempts IS 'Requests that have failed since the last success.';
COMMENT ON COLUMN webhook_backlog.failing_since IS 'When the first of these requests failed; NULL while requests succeed.';
COMMENT ON COLUMN webhook_backlog.last_error IS 'Why the last of them failed.';
COMMENT ON COLUMN webhook_backlog.next_attempt_at IS 'When the next request is made.';
COMMENT ON COLUMN webhook_backlog.delivered_at IS 'When a request last succeeded.';

COMMENT ON VIEW webhook_dead_letters IS 'Events that no receiver took for a day, or that exceeded an app''s backlog.';
COMMENT ON COLUMN webhook_dead_letters.app IS 'The app.';
COMMENT ON COLUMN webhook_dead_letters.id IS 'The event''s id.';
COMMENT ON COLUMN webhook_dead_letters.kind IS 'What has happened.';
COMMENT ON COLUMN webhook_dead_letters.happened_at IS 'When.';
COMMENT ON COLUMN webhook_dead_letters.queued_at IS 'Since when it had waited.';
COMMENT ON COLUMN webhook_dead_letters.died_at IS 'When it was given up.';
COMMENT ON COLUMN webhook_dead_letters.error IS 'Why.';
COMMENT ON COLUMN webhook_dead_letters.body IS 'The event as it would be sent, a JSON object.';
