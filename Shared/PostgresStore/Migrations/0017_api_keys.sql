-- expand, readers_from 1
CREATE TABLE api_keys (
    id                  text COLLATE "C" PRIMARY KEY CHECK (id ~ '^[0-9a-f]{16}$'),
    app                 text COLLATE "C" REFERENCES apps (id) ON DELETE CASCADE,
    digest              text COLLATE "C" NOT NULL CHECK (digest ~ '^[0-9a-f]{64}$'),
    scopes              text NOT NULL,
    requests_per_second integer NOT NULL CHECK (requests_per_second BETWEEN 1 AND 1000000),
    note                text NOT NULL DEFAULT '',
    created_at          timestamptz NOT NULL DEFAULT now(),
    expires_at          timestamptz,
    revoked_at          timestamptz
);
CREATE INDEX api_keys_by_app ON api_keys (app);

COMMENT ON TABLE api_keys IS 'Keys of the server API, made by heliographctl key create. The keys themselves are not stored.';
COMMENT ON COLUMN api_keys.id IS 'The public part of the key, between its two underscores.';
COMMENT ON COLUMN api_keys.app IS 'The only app that the key may use; NULL for a cluster key, which may use all.';
COMMENT ON COLUMN api_keys.digest IS 'SHA-256 of the secret part, in hexadecimal.';
COMMENT ON COLUMN api_keys.scopes IS 'What the key may do: read, send, admin, with spaces between them.';
COMMENT ON COLUMN api_keys.requests_per_second IS 'Requests per second at each gateway process; each message of a batch counts as one.';
COMMENT ON COLUMN api_keys.note IS 'What its owner wrote about it.';
COMMENT ON COLUMN api_keys.created_at IS 'When it was made.';
COMMENT ON COLUMN api_keys.expires_at IS 'When it ends by itself; NULL: never.';
COMMENT ON COLUMN api_keys.revoked_at IS 'When it was revoked; NULL while it is valid. Gateways follow within 7 seconds.';
