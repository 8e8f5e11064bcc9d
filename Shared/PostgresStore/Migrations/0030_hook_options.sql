-- expand, readers_from 1
-- Loopback has a word of its own: whoever may lead requests into a private network does not thereby reach the machine itself. And moderation
-- holds under load: what exceeds the bound of questions can be refused although the hook fails open.

ALTER TABLE webhooks ADD COLUMN allow_loopback boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN webhooks.allow_loopback IS 'Whether the URL may lead to the loopback addresses of the machine.';
COMMENT ON COLUMN webhooks.allow_private IS 'Whether the URL may lead into private networks.';

ALTER TABLE before_hooks ADD COLUMN allow_loopback boolean NOT NULL DEFAULT false;
ALTER TABLE before_hooks ADD COLUMN refuse_busy boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN before_hooks.allow_loopback IS 'Whether the URL may lead to the loopback addresses of the machine.';
COMMENT ON COLUMN before_hooks.allow_private IS 'Whether the URL may lead into private networks.';
COMMENT ON COLUMN before_hooks.refuse_busy IS 'Whether it is refused what exceeds the bound of questions, whatever fail_open says.';
