-- expand, readers_from 1
-- Users who may not log in until a time. Redis has a copy of each ban beside the user's session, which logins read; this is the truth.
CREATE TABLE user_bans (
    app        text COLLATE "C" NOT NULL REFERENCES apps (id) ON DELETE CASCADE,
    account    text COLLATE "C" NOT NULL,
    until      timestamptz NOT NULL,
    reason     text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    version    bigint NOT NULL,
    PRIMARY KEY (app, account)
);
CREATE INDEX user_bans_by_end ON user_bans (until);

COMMENT ON TABLE user_bans IS 'Users who may not log in until a time, by the server API. Rows stay for a day after the end';
COMMENT ON COLUMN user_bans.app IS 'The app';
COMMENT ON COLUMN user_bans.account IS 'The user, who need not have logged in ever';
COMMENT ON COLUMN user_bans.until IS 'When the ban ends';
COMMENT ON COLUMN user_bans.reason IS 'What the app''s server wrote about it; the user is not told';
COMMENT ON COLUMN user_bans.created_at IS 'When it was made, or replaced';
COMMENT ON COLUMN user_bans.version IS 'Rises with each change, so that Redis keeps the latest; the clock in microseconds';

CREATE VIEW bans AS
SELECT b.app, b.account, b.until, b.reason, b.created_at FROM user_bans b WHERE b.until > now();
COMMENT ON VIEW bans IS 'Users who may not log in now';
COMMENT ON COLUMN bans.app IS 'The app';
COMMENT ON COLUMN bans.account IS 'The user';
COMMENT ON COLUMN bans.until IS 'When the ban ends';
COMMENT ON COLUMN bans.reason IS 'What the app''s server wrote about it';
COMMENT ON COLUMN bans.created_at IS 'When it was made, or replaced';
SELECT grant_reader();
