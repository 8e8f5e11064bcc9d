-- expand, readers_from 1
-- The servers of apps that are asked before a login, a join or a message (Docs/decisions/0030).

CREATE TABLE before_hooks (
    app           text COLLATE "C" PRIMARY KEY REFERENCES apps (id) ON DELETE CASCADE,
    url           text NOT NULL CHECK (octet_length(url) BETWEEN 1 AND 2000),
    secret        text NOT NULL CHECK (octet_length(secret) BETWEEN 16 AND 128),
    points        text[] NOT NULL CHECK (cardinality(points) BETWEEN 1 AND 16),
    deadline_ms   integer NOT NULL DEFAULT 1000 CHECK (deadline_ms BETWEEN 50 AND 5000),
    fail_open     boolean NOT NULL DEFAULT false,
    requests      integer NOT NULL DEFAULT 64 CHECK (requests BETWEEN 1 AND 1000),
    allow_private boolean NOT NULL DEFAULT false,
    set_at        timestamptz NOT NULL DEFAULT now()
);

COMMENT ON TABLE before_hooks IS 'Servers of apps that gateways ask before something happens, set by heliographctl hook set.';
COMMENT ON COLUMN before_hooks.app IS 'The app.';
COMMENT ON COLUMN before_hooks.url IS 'Where questions are posted to.';
COMMENT ON COLUMN before_hooks.secret IS 'Signs the questions (HMAC-SHA256).';
COMMENT ON COLUMN before_hooks.points IS 'What is asked about: login, join, send.';
COMMENT ON COLUMN before_hooks.deadline_ms IS 'Milliseconds that the server has for an answer.';
COMMENT ON COLUMN before_hooks.fail_open IS 'Whether it goes on when there is no valid answer in time.';
COMMENT ON COLUMN before_hooks.requests IS 'Questions that an event loop of a gateway has under way at most.';
COMMENT ON COLUMN before_hooks.allow_private IS 'Whether the URL may lead into private, loopback and link-local networks.';
COMMENT ON COLUMN before_hooks.set_at IS 'When it was last set.';
