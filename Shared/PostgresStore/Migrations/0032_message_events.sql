-- expand, readers_from 1
-- A webhook can tell of messages (Docs/decisions/0026): the kind is one more word in `kinds`, their texts are an option.

ALTER TABLE webhooks ADD COLUMN message_text boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN webhooks.message_text IS 'Whether events about messages have their texts.';
