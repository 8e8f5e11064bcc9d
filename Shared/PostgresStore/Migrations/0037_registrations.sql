-- expand, readers_from 1
-- How sip-bridges are registered at trunks' registrars. A bridge writes it when it changes; of a bridge that was killed, it ends by itself.

CREATE TABLE sip_registrations (
    app     text COLLATE "C" NOT NULL REFERENCES sip_trunks (app) ON DELETE CASCADE,
    bridge  text COLLATE "C" NOT NULL,
    state   text COLLATE "C" NOT NULL CHECK (state IN ('registered', 'refused', 'unanswered')),
    status  integer,
    since   timestamptz NOT NULL DEFAULT now(),
    ends_at timestamptz NOT NULL,
    PRIMARY KEY (app, bridge)
);

CREATE VIEW trunk_registrations AS
SELECT t.app, t.host, t.port, t.transport, r.bridge, coalesce(r.state, 'unknown') AS state, r.status, r.since,
    CASE WHEN r.state = 'registered' THEN r.ends_at END AS until
FROM sip_trunks t LEFT JOIN sip_registrations r ON r.app = t.app AND r.ends_at > now()
WHERE t.register;

COMMENT ON TABLE sip_registrations IS 'How sip-bridges are registered at trunks. See the view trunk_registrations.';
COMMENT ON COLUMN sip_registrations.app IS 'The app whose trunk it is.';
COMMENT ON COLUMN sip_registrations.bridge IS 'The sip-bridge: a run of it.';
COMMENT ON COLUMN sip_registrations.state IS 'registered, refused or unanswered.';
COMMENT ON COLUMN sip_registrations.status IS 'The status of the registrar''s response, when it has refused.';
COMMENT ON COLUMN sip_registrations.since IS 'Since when it has stood so.';
COMMENT ON COLUMN sip_registrations.ends_at IS 'The end of the binding; otherwise, when the next attempt must have had its outcome. Nothing holds longer.';
COMMENT ON VIEW trunk_registrations IS 'Trunks that register, and how each sip-bridge is registered there.';
COMMENT ON COLUMN trunk_registrations.app IS 'The app whose trunk it is.';
COMMENT ON COLUMN trunk_registrations.host IS 'The name or address of the SIP peer.';
COMMENT ON COLUMN trunk_registrations.port IS 'Its port.';
COMMENT ON COLUMN trunk_registrations.transport IS 'udp, tcp or tls.';
COMMENT ON COLUMN trunk_registrations.bridge IS 'The sip-bridge: a run of it; NULL when none has told anything.';
COMMENT ON COLUMN trunk_registrations.state IS
    'registered, refused, unanswered; unknown when no sip-bridge has told anything, because none runs, or none has an outcome yet.';
COMMENT ON COLUMN trunk_registrations.status IS
    'The status of the registrar''s response, when it has refused; 200: it took the request, and lists no binding of ours.';
COMMENT ON COLUMN trunk_registrations.since IS 'Since when it has stood so.';
COMMENT ON COLUMN trunk_registrations.until IS 'Until when the binding exists, which is renewed before; NULL without one.';
