-- expand, readers_from 1
-- The audit trail: who did what to whom. A table divided by month, whose old months are removed as a whole. Triggers write what changes in
-- PostgreSQL, in the transaction of the change, so that changes by processes of the release before, and by hand, are there too. Who it was
-- is in the setting heliograph.cause, which heliographctl and the services give; without it, it is the user of the database.

CREATE SEQUENCE audit_ids AS bigint;

CREATE TABLE audit_entries (
    at         timestamptz NOT NULL DEFAULT now(),
    id         bigint NOT NULL DEFAULT nextval('audit_ids'),
    act        text COLLATE "C" NOT NULL,
    app        text COLLATE "C",
    subject    text COLLATE "C",
    by_kind    text COLLATE "C" NOT NULL CHECK (by_kind IN ('key', 'heliographctl', 'database')),
    by_name    text COLLATE "C",
    details    jsonb NOT NULL DEFAULT '{}',
    request_id text COLLATE "C",
    trace_id   text COLLATE "C",
    command_id text COLLATE "C"
) PARTITION BY RANGE (at);
CREATE INDEX audit_entries_by_time ON audit_entries (at, id);
CREATE INDEX audit_entries_by_app ON audit_entries (app, at, id);
-- Without it, an act in a month for which there is no table would be refused.
CREATE TABLE audit_entries_rest PARTITION OF audit_entries DEFAULT;

INSERT INTO retention (history, days) VALUES ('audit', 400);
-- The trail cannot be turned off.
ALTER TABLE retention ADD CONSTRAINT retention_audit_is_written CHECK (history <> 'audit' OR days > 0);

CREATE VIEW audit_trail AS
SELECT e.at, e.id, e.act, e.app, e.subject, e.by_kind, e.by_name, e.details, e.request_id, e.trace_id, e.command_id
FROM audit_entries e;

CREATE OR REPLACE VIEW history_parts AS
SELECT h.history, c.relname::text AS name,
    substring(b.bound FROM 'FROM \(''([^'']+)''')::timestamptz AS since,
    substring(b.bound FROM 'TO \(''([^'']+)''')::timestamptz AS until,
    pg_total_relation_size(c.oid) AS bytes
FROM (VALUES ('attributes', 'attribute_history'), ('audit', 'audit_entries'), ('calls', 'calls')) AS h(history, parent)
JOIN pg_inherits i ON i.inhparent = h.parent::regclass
JOIN pg_class c ON c.oid = i.inhrelid
CROSS JOIN LATERAL (SELECT pg_get_expr(c.relpartbound, c.oid) AS bound) b;

CREATE OR REPLACE VIEW histories AS
SELECT r.history, CASE r.history WHEN 'attributes' THEN 'day' ELSE 'month' END AS divided_by, r.days AS kept_days,
    count(p.name) AS parts, min(p.since) AS since, max(p.until) AS until, coalesce(sum(p.bytes), 0)::bigint AS bytes
FROM retention r LEFT JOIN history_parts p ON p.history = r.history
GROUP BY r.history, r.days;

-- Makes a table for each month of UTC from the present one up to now() + p_ahead that has none. Rows of such a month move there.
CREATE FUNCTION make_audit_months(p_ahead interval) RETURNS bigint LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
DECLARE
    v_since timestamptz := date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC';
    v_until timestamptz;
    v_name  text;
    v_made  bigint := 0;
BEGIN
    IF (SELECT max(p.until) FROM history_parts p WHERE p.history = 'audit') > now() + p_ahead THEN
        RETURN 0;
    END IF;
    -- One process at a time: the next one finds the months.
    LOCK TABLE ONLY audit_entries IN SHARE UPDATE EXCLUSIVE MODE;
    WHILE v_since <= now() + p_ahead LOOP
        v_until := (v_since AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC';
        v_name := to_char(v_since AT TIME ZONE 'UTC', '"audit_entries_"YYYY_MM');
        IF to_regclass(v_name) IS NULL THEN
            EXECUTE format('CREATE TABLE %I (LIKE audit_entries INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', v_name);
            LOCK TABLE audit_entries_rest IN ACCESS EXCLUSIVE MODE;
            EXECUTE format(
                'WITH moved AS (DELETE FROM audit_entries_rest WHERE at >= %L AND at < %L RETURNING *) '
                'INSERT INTO %I SELECT * FROM moved', v_since, v_until, v_name);
            EXECUTE format('ALTER TABLE audit_entries ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', v_name, v_since, v_until);
            v_made := v_made + 1;
        END IF;
        v_since := v_until;
    END LOOP;
    RETURN v_made;
END $$;

-- Removes a month of the trail with its rows; false when there is no such month.
CREATE FUNCTION drop_audit_month(p_name text) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '1s' AS $$
BEGIN
    LOCK TABLE ONLY audit_entries IN ACCESS EXCLUSIVE MODE;
    IF NOT EXISTS (SELECT FROM history_parts p WHERE p.history = 'audit' AND p.name = p_name AND p.until IS NOT NULL) THEN
        RETURN false;
    END IF;
    EXECUTE format('DROP TABLE %I', p_name);
    RETURN true;
END $$;

-- Writes an entry. p_cause: null for what the setting heliograph.cause says.
CREATE FUNCTION note_act(p_act text, p_app text, p_subject text, p_details jsonb, p_cause jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_cause jsonb := coalesce(p_cause, nullif(current_setting('heliograph.cause', true), '')::jsonb,
        jsonb_build_object('kind', 'database', 'name', session_user));
BEGIN
    INSERT INTO audit_entries (act, app, subject, by_kind, by_name, details, request_id, trace_id, command_id)
    VALUES (p_act, p_app, p_subject, v_cause ->> 'kind', v_cause ->> 'name', p_details, v_cause ->> 'request', v_cause ->> 'trace',
        v_cause ->> 'command');
END $$;

-- Arguments: the thing's name, which acts begin with; the columns of its app and its subject; the columns whose values are noted. Of the
-- others only the names are, when they change: they hold secrets, or are of no interest.
CREATE FUNCTION note_row_act() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_new     jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
    v_old     jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
    v_app     text := coalesce(v_new, v_old) ->> TG_ARGV[1];
    v_shown   text[] := string_to_array(TG_ARGV[3], ',');
    v_details jsonb;
    v_changed jsonb;
    v_act     text := 'set';
BEGIN
    IF TG_OP = 'DELETE' THEN
        -- Not what goes with its app.
        IF TG_TABLE_NAME <> 'apps' AND v_app IS NOT NULL AND NOT EXISTS (SELECT FROM apps a WHERE a.id = v_app) THEN
            RETURN NULL;
        END IF;
        PERFORM note_act(TG_ARGV[0] || '.remove', v_app, v_old ->> TG_ARGV[2], '{}', NULL);
        RETURN NULL;
    END IF;
    IF TG_OP = 'UPDATE' THEN
        SELECT coalesce(jsonb_agg(n.key ORDER BY n.key), '[]') INTO v_changed FROM jsonb_each(v_new) n
        WHERE n.value IS DISTINCT FROM v_old -> n.key AND n.key NOT IN ('updated_at', 'set_at', 'next_attempt_at');
        IF TG_TABLE_NAME = 'api_keys' THEN
            -- To revoke a key again changes nothing.
            IF v_changed = '[]' THEN
                RETURN NULL;
            END IF;
            v_act := CASE WHEN v_changed ? 'revoked_at' AND v_new ->> 'revoked_at' IS NOT NULL THEN 'revoke' ELSE 'change' END;
        ELSIF TG_TABLE_NAME = 'apps' THEN
            v_act := 'change';
        END IF;
    ELSIF TG_TABLE_NAME IN ('apps', 'api_keys') THEN
        v_act := 'create';
    END IF;
    -- What follows the question mark of a URL may be a secret.
    SELECT coalesce(jsonb_object_agg(n.key, CASE n.key WHEN 'url' THEN to_jsonb(split_part(n.value #>> '{}', '?', 1)) ELSE n.value END), '{}')
    INTO v_details FROM jsonb_each(v_new) n WHERE n.key = ANY (v_shown) AND n.value <> 'null';
    IF TG_OP = 'UPDATE' THEN
        v_details := v_details || jsonb_build_object('changed', v_changed);
        IF v_changed ? 'limits' THEN
            v_details := v_details || jsonb_build_object('limits_before', v_old -> 'limits');
        END IF;
    END IF;
    PERFORM note_act(TG_ARGV[0] || '.' || v_act, v_app, v_new ->> TG_ARGV[2], v_details, NULL);
    RETURN NULL;
END $$;

-- Argument: what was done to the row; of a new one, its values tell: the end of a ban that there was not is now() itself.
CREATE FUNCTION note_ban_act() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_act text := TG_ARGV[0];
BEGIN
    IF v_act = 'new' THEN
        v_act := CASE WHEN NEW.tokens_until > to_timestamp(0) THEN 'user.revoke' WHEN NEW.until = now() THEN 'user.unban' ELSE 'user.ban' END;
    END IF;
    PERFORM note_act(v_act, NEW.app, NEW.account, CASE v_act
        WHEN 'user.ban' THEN jsonb_build_object('until', floor(extract(epoch FROM NEW.until)), 'reason', NEW.reason)
        WHEN 'user.revoke' THEN jsonb_build_object('until', floor(extract(epoch FROM NEW.tokens_until)))
        ELSE '{}' END, NULL);
    RETURN NULL;
END $$;

CREATE TRIGGER note_act AFTER INSERT OR DELETE OR UPDATE OF certificate, token_required, limits ON apps
    FOR EACH ROW EXECUTE FUNCTION note_row_act('app', 'id', 'id', 'token_required,limits');
CREATE TRIGGER note_act AFTER INSERT OR DELETE OR UPDATE ON api_keys
    FOR EACH ROW EXECUTE FUNCTION note_row_act('key', 'app', 'id', 'scopes,requests_per_second,note,expires_at');
CREATE TRIGGER note_act AFTER INSERT OR DELETE OR UPDATE ON sip_trunks
    FOR EACH ROW EXECUTE FUNCTION note_row_act('trunk', 'app', 'app',
        'host,port,transport,from_domain,register,dtmf,srtp,ring_seconds,accept_digest,trace,callees,callers,calls_per_user,'
        'new_calls_per_user,calls_per_app,new_calls_per_app,longest_call,asserted_identity,privacy');
CREATE TRIGGER note_act AFTER INSERT OR DELETE OR UPDATE ON sip_numbers
    FOR EACH ROW EXECUTE FUNCTION note_row_act('number', 'app', 'number', 'account');
-- The webhooks service writes its other columns all the time.
CREATE TRIGGER note_act AFTER INSERT OR DELETE OR UPDATE OF url, secret, kinds, batch, allow_private, allow_loopback ON webhooks
    FOR EACH ROW EXECUTE FUNCTION note_row_act('webhook', 'app', 'app', 'url,kinds,batch,allow_private,allow_loopback');
CREATE TRIGGER note_act AFTER INSERT OR DELETE OR UPDATE ON before_hooks
    FOR EACH ROW EXECUTE FUNCTION note_row_act('hook', 'app', 'app',
        'url,points,deadline_ms,fail_open,requests,allow_private,allow_loopback,refuse_busy');
CREATE TRIGGER note_act AFTER UPDATE ON retention
    FOR EACH ROW EXECUTE FUNCTION note_row_act('retention', '', 'history', 'days');
CREATE TRIGGER note_new AFTER INSERT ON user_bans FOR EACH ROW EXECUTE FUNCTION note_ban_act('new');
CREATE TRIGGER note_ban AFTER UPDATE OF reason ON user_bans FOR EACH ROW EXECUTE FUNCTION note_ban_act('user.ban');
CREATE TRIGGER note_lift AFTER UPDATE OF until ON user_bans FOR EACH ROW WHEN (NEW.created_at = OLD.created_at)
    EXECUTE FUNCTION note_ban_act('user.unban');
CREATE TRIGGER note_revocation AFTER UPDATE OF tokens_until ON user_bans FOR EACH ROW EXECUTE FUNCTION note_ban_act('user.revoke');

SELECT make_audit_months(interval '2 days');

COMMENT ON SEQUENCE audit_ids IS 'The ids of the audit trail''s entries';
COMMENT ON TABLE audit_entries IS
    'The audit trail: who did what to whom; by month, for 400 days (heliographctl retention). See the view audit_trail';
COMMENT ON VIEW audit_trail IS 'Who did what to whom: bans, disconnects, tokens, keys, apps, trunks, numbers, webhooks, hooks, retention';
DO $$
DECLARE
    v_relation text;
    v_column   text[];
BEGIN
    FOREACH v_relation IN ARRAY ARRAY['audit_entries', 'audit_trail'] LOOP
        FOREACH v_column SLICE 1 IN ARRAY ARRAY[
            ['at', 'When'], ['id', 'Rises with each entry; orders entries of the same time'],
            ['act', 'What was done, such as user.ban, user.disconnect, token.mint, key.create, app.change, trunk.set'],
            ['app', 'The app; NULL for what concerns no single one'],
            ['subject', 'To whom or what: an account, a key''s id, a number, an app, a history'],
            ['by_kind', 'Who: key (of the server API), heliographctl, or database (a statement that did not say who asked for it)'],
            ['by_name', 'The key''s id, the user of the operating system, or the database''s user; NULL: a key, of a gateway of the release before'],
            ['details', 'Values of interest, and which columns changed; never secrets, tokens or messages. Times in Unix seconds'],
            ['request_id', 'X-Request-Id of the server API''s request'], ['trace_id', 'The request''s trace id (W3C Trace Context)'],
            ['command_id', 'The command''s id; a command that was repeated has an entry for each attempt']
        ] LOOP
            EXECUTE format('COMMENT ON COLUMN %I.%I IS %L', v_relation, v_column[1], v_column[2]);
        END LOOP;
    END LOOP;
END $$;
COMMENT ON TABLE retention IS
    'For how many days the histories are kept: attributes (attribute_history), audit (audit_entries) and calls';
COMMENT ON FUNCTION make_audit_months(interval) IS 'Makes the months of the audit trail up to now() + p_ahead; returns how many it made';
COMMENT ON FUNCTION drop_audit_month(text) IS 'Removes a month of the audit trail with its rows; false when there is no such month';
COMMENT ON FUNCTION note_act(text, text, text, jsonb, jsonb) IS
    'Writes an entry of the audit trail; without p_cause, the setting heliograph.cause says who, or the database''s user';
COMMENT ON FUNCTION note_row_act() IS 'Trigger: notes a change of a row in the audit trail';
COMMENT ON FUNCTION note_ban_act() IS 'Trigger: notes bans, lifted bans and revoked tokens in the audit trail';

SELECT grant_reader();
