-- Whether the channel had a member since it got attributes: it ends some time after the last one has left then. Redis knows,
-- but may come back without that; then such channels would keep their attributes for ever. Set by AttributeStore.noteJoined.
ALTER TABLE channel_attribute_versions ADD COLUMN joined boolean NOT NULL DEFAULT false;
