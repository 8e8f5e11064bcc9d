-- expand, readers_from 1
-- Login tokens that were revoked. Tokens of an account differ in their ends only, so an end is what is kept: tokens that end then or
-- earlier are refused. It is beside the ban, because logins check both at once.
ALTER TABLE user_bans ADD COLUMN tokens_until timestamptz NOT NULL DEFAULT to_timestamp(0);

COMMENT ON TABLE user_bans IS
    'Users who may not log in until a time, and revoked login tokens, by the server API. Rows stay for a day after both are over';
COMMENT ON COLUMN user_bans.until IS 'When the ban ends; 1970 for a user who was never banned';
COMMENT ON COLUMN user_bans.tokens_until IS 'Login tokens that end at this time or earlier are refused; 1970 when none was revoked';
