-- Telephones: an app's SIP trunk, and what a call's telephone said.

CREATE TABLE sip_trunks (
    app           text COLLATE "C" PRIMARY KEY REFERENCES apps (id) ON DELETE CASCADE,
    host          text NOT NULL,
    port          integer NOT NULL CHECK (port BETWEEN 1 AND 65535),
    transport     text NOT NULL DEFAULT 'udp' CHECK (transport IN ('udp', 'tcp', 'tls')),
    auth_user     text,
    secret        text,
    from_domain   text,
    register      boolean NOT NULL DEFAULT false,
    dtmf          text NOT NULL DEFAULT 'auto' CHECK (dtmf IN ('auto', 'rfc4733', 'info')),
    srtp          text NOT NULL DEFAULT 'off' CHECK (srtp IN ('off', 'optional', 'required')),
    ring_seconds  integer NOT NULL DEFAULT 60 CHECK (ring_seconds BETWEEN 1 AND 3600),
    accept_digest boolean NOT NULL DEFAULT false,
    trace         boolean NOT NULL DEFAULT false,
    updated_at    timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE calls ADD COLUMN sip_call_id text, ADD COLUMN sip_status integer, ADD COLUMN sip_reason text;

-- The columns so far keep their names and places.
CREATE OR REPLACE VIEW call_log AS
SELECT app, id, channel, caller, callee, kind, direction,
    CASE
        WHEN ended_at IS NOT NULL AND accepted_at IS NULL THEN 'not answered'
        WHEN ended_at IS NOT NULL THEN 'ended'
        WHEN accepted_at IS NOT NULL THEN 'talking'
        WHEN acknowledged_at IS NOT NULL THEN 'ringing'
        ELSE 'inviting'
    END AS state,
    started_at, acknowledged_at, accepted_at, ended_at, end_code, ended_at - accepted_at AS talk_time,
    CASE direction WHEN 'outbound' THEN callee WHEN 'inbound' THEN caller END AS number,
    sip_call_id, sip_status, sip_reason
FROM calls;
