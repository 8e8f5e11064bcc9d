-- expand, readers_from 1
-- A table that is removed while one of these views lists it has neither bounds nor a size any more: it is left out.

CREATE OR REPLACE VIEW call_months AS
SELECT c.relname::text AS name,
    substring(b.bound FROM 'FROM \(''([^'']+)''')::timestamptz AS since,
    substring(b.bound FROM 'TO \(''([^'']+)''')::timestamptz AS until,
    b.bytes
FROM pg_inherits i
JOIN pg_class c ON c.oid = i.inhrelid
-- OFFSET 0: each is read once, because a moment later the table may be gone.
CROSS JOIN LATERAL (
    SELECT pg_get_expr(c.relpartbound, c.oid) AS bound, pg_total_relation_size(c.oid) AS bytes OFFSET 0) b
WHERE i.inhparent = 'calls'::regclass AND b.bound IS NOT NULL AND b.bytes IS NOT NULL;

CREATE OR REPLACE VIEW history_parts AS
SELECT h.history, c.relname::text AS name,
    substring(b.bound FROM 'FROM \(''([^'']+)''')::timestamptz AS since,
    substring(b.bound FROM 'TO \(''([^'']+)''')::timestamptz AS until,
    b.bytes
FROM (VALUES ('attributes', 'attribute_history'), ('audit', 'audit_entries'), ('calls', 'calls')) AS h(history, parent)
JOIN pg_inherits i ON i.inhparent = h.parent::regclass
JOIN pg_class c ON c.oid = i.inhrelid
CROSS JOIN LATERAL (
    SELECT pg_get_expr(c.relpartbound, c.oid) AS bound, pg_total_relation_size(c.oid) AS bytes OFFSET 0) b
WHERE b.bound IS NOT NULL AND b.bytes IS NOT NULL;
