-- Text that clients choose is compared byte by byte (COLLATE "C"), as Redis and the services compare it.
-- Times are timestamptz; the services speak of milliseconds and convert in their statements.

CREATE TABLE apps (
    id             text COLLATE "C" PRIMARY KEY,
    certificate    text NOT NULL,
    token_required boolean NOT NULL DEFAULT true,
    sip_trunk      text,
    limits         jsonb NOT NULL DEFAULT '{}',
    created_at     timestamptz NOT NULL DEFAULT now()
);

-- One number space for all apps: a number never means two accounts, not even by a mix-up of apps.
CREATE SEQUENCE user_uids AS bigint MINVALUE 1 MAXVALUE 4294967295 START 1;

CREATE TABLE users (
    app        text COLLATE "C" NOT NULL,
    account    text COLLATE "C" NOT NULL,
    uid        bigint NOT NULL UNIQUE,
    first_seen timestamptz NOT NULL DEFAULT now(),
    last_seen  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app, account)
);

-- The version of an owner's attributes outlives the attributes, so that it never falls.
CREATE TABLE user_attribute_versions (
    app     text COLLATE "C" NOT NULL,
    account text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (app, account)
);

CREATE TABLE user_attributes (
    app        text COLLATE "C" NOT NULL,
    account    text COLLATE "C" NOT NULL,
    name       text COLLATE "C" NOT NULL,
    value      text NOT NULL,
    version    bigint NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app, account, name)
);

CREATE TABLE channel_attribute_versions (
    app     text COLLATE "C" NOT NULL,
    channel text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (app, channel)
);

CREATE TABLE channel_attributes (
    app        text COLLATE "C" NOT NULL,
    channel    text COLLATE "C" NOT NULL,
    name       text COLLATE "C" NOT NULL,
    value      text NOT NULL,
    version    bigint NOT NULL,
    updated_by text COLLATE "C" NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app, channel, name)
);

-- What makes a redelivered attribute command take effect once; pruned after ten minutes.
CREATE TABLE applied_commands (
    command    text COLLATE "C" PRIMARY KEY,
    version    bigint NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX applied_commands_by_age ON applied_commands (applied_at);

CREATE TABLE calls (
    app             text COLLATE "C" NOT NULL,
    id              text COLLATE "C" NOT NULL,
    channel         text COLLATE "C" NOT NULL,
    caller          text COLLATE "C" NOT NULL,
    callee          text COLLATE "C" NOT NULL,
    kind            text NOT NULL,
    direction       text NOT NULL,
    started_at      timestamptz NOT NULL,
    acknowledged_at timestamptz,
    accepted_at     timestamptz,
    ended_at        timestamptz,
    end_code        integer,
    PRIMARY KEY (app, id)
);
CREATE INDEX calls_by_start ON calls (app, started_at);

CREATE TABLE sip_numbers (
    number     text COLLATE "C" PRIMARY KEY,
    app        text COLLATE "C" NOT NULL,
    account    text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- Mirrors of Redis, at most a second behind. A row's version grows with every change in Redis, so that rows that
-- arrive late or twice are skipped; that is why the absent are kept for an hour.
CREATE TABLE presence_sessions (
    app        text COLLATE "C" NOT NULL,
    account    text COLLATE "C" NOT NULL,
    present    boolean NOT NULL,
    version    bigint NOT NULL,
    uid        bigint NOT NULL,
    session    text NOT NULL,
    gateway    text NOT NULL,
    device     text NOT NULL,
    detached   boolean NOT NULL,
    since      timestamptz NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app, account)
);
CREATE INDEX presence_sessions_absent ON presence_sessions (updated_at) WHERE NOT present;

CREATE TABLE channel_members (
    app        text COLLATE "C" NOT NULL,
    channel    text COLLATE "C" NOT NULL,
    account    text COLLATE "C" NOT NULL,
    present    boolean NOT NULL,
    version    bigint NOT NULL,
    uid        bigint NOT NULL,
    joined_at  timestamptz NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app, channel, account)
);
CREATE INDEX channel_members_by_account ON channel_members (app, account) WHERE present;
CREATE INDEX channel_members_absent ON channel_members (updated_at) WHERE NOT present;
