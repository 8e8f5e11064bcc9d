-- expand, readers_from 1
-- Networks from which no client may connect. Services ask for all of them once a second.

CREATE TABLE address_bans (
    network    cidr PRIMARY KEY,
    until      timestamptz NOT NULL,
    reason     text COLLATE "C" NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE VIEW banned_networks AS
SELECT b.network, b.until, b.reason, b.created_at FROM address_bans b WHERE b.until > now();

COMMENT ON TABLE address_bans IS 'Networks from which no client may connect, and those whose bans ended a short time ago';
COMMENT ON VIEW banned_networks IS 'Networks from which no client may connect';
DO $$
DECLARE
    v_relation text;
    v_column   text[];
BEGIN
    FOREACH v_relation IN ARRAY ARRAY['address_bans', 'banned_networks'] LOOP
        FOREACH v_column SLICE 1 IN ARRAY ARRAY[
            ['network', 'The network; a single address is a network too'], ['until', 'When the ban ends'],
            ['reason', 'What was noted about it'], ['created_at', 'When it was made']
        ] LOOP
            EXECUTE format('COMMENT ON COLUMN %I.%I IS %L', v_relation, v_column[1], v_column[2]);
        END LOOP;
    END LOOP;
END $$;

CREATE TRIGGER note_act AFTER INSERT OR DELETE OR UPDATE ON address_bans
    FOR EACH ROW EXECUTE FUNCTION note_row_act('address', '', 'network', 'until,reason');
