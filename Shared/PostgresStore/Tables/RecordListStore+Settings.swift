internal import BusProtocol
internal import SignalingProtocol

/// What operators have set for apps, by app: as the lists of all apps, and as the record of one. Secrets are left out.
extension RecordListStore {
    /// The events that wait, and the dead letters, that are counted at most of each webhook: so a page takes no longer
    /// while many receivers fail, with up to a million events each.
    package static let countedEvents = 10_000

    /// The condition of a page of apps, or that of one app.
    private static func apps(of request: ListRecords, _ parameters: inout [PostgresParameter]) -> String {
        request.app == nil ? names("app", request, &parameters) : "app = \(app(request, &parameters))"
    }

    /// The condition of a page of webhooks: of all apps, of one app, or the one of an app that has the standard name.
    private static func chosen(_ request: ListRecords, _ parameters: inout [PostgresParameter]) -> String {
        if request.app != nil {
            let all = "app = \(app(request, &parameters))"
            return request.list == .webhook ? "\(all) AND name = '\(WebhookName.standard)'" : all
        }
        // `APP/NAME`; an app's id may have slashes, a name has none.
        let slash = request.after.lastIndex(of: "/") ?? request.after.endIndex
        let app = put(.text(String(request.after[..<slash])), &parameters)
        return "(app, name) > (\(app), \(put(.text(String(request.after[slash...].dropFirst())), &parameters)))"
    }

    /// What follows the question mark of a URL may be a secret.
    static func webhooks(_ request: ListRecords, _ parameters: inout [PostgresParameter]) -> String {
        let own = "q.app = w.app AND q.webhook = w.name"
        return """
            SELECT w.app || '/' || w.name AS key, json_build_object('app', w.app, 'name', w.name,
                'url', split_part(w.url, '?', 1), 'kinds', w.kinds,
                'waiting', (SELECT count(*) FROM (SELECT FROM webhook_events q WHERE \(own) LIMIT \(countedEvents)) q),
                'oldestSeconds', (SELECT greatest(0, \(seconds("now() - min(q.queued_at)")))
                    FROM webhook_events q WHERE \(own) HAVING min(q.queued_at) IS NOT NULL),
                'dead', (SELECT count(*) FROM (SELECT FROM webhook_dead q WHERE \(own) LIMIT \(countedEvents)) q),
                'failures', w.attempts, 'failingSince', \(seconds("w.failing_since")), 'lastError', w.last_error,
                'deliveredAt', \(seconds("w.delivered_at")))::text AS record
            FROM (SELECT * FROM webhooks WHERE \(chosen(request, &parameters))
                ORDER BY app, name LIMIT \(limit(request, &parameters))) w ORDER BY w.app, w.name
            """
    }

    /// The user and the password that a trunk logs in with are never read.
    static func trunks(_ request: ListRecords, _ parameters: inout [PostgresParameter]) -> String {
        """
        SELECT app AS key, json_build_object('app', app, 'host', host, 'port', port, 'transport', transport,
            'register', register, 'registrations', (SELECT coalesce(json_agg(r.record), '[]') FROM (
                SELECT json_build_object('bridge', r.bridge, 'state', r.state, 'status', r.status,
                    'since', \(seconds("r.since")), 'until', \(seconds("r.until"))) AS record
                FROM trunk_registrations r WHERE r.app = sip_trunks.app AND r.bridge IS NOT NULL
                ORDER BY r.bridge LIMIT \(RegistrationStore.listed)) r),
            'srtp', srtp, 'updatedAt', \(seconds("updated_at")))::text AS record
        FROM sip_trunks WHERE \(apps(of: request, &parameters)) ORDER BY app LIMIT \(limit(request, &parameters))
        """
    }

    /// The secret that signs questions is never read; what follows the question mark of a URL may be one, too.
    static func hooks(_ request: ListRecords, _ parameters: inout [PostgresParameter]) -> String {
        """
        SELECT app AS key, json_build_object('app', app, 'url', split_part(url, '?', 1), 'on', points,
            'deadline', deadline_ms, 'failOpen', fail_open, 'refuseBusy', refuse_busy, 'requests', requests,
            'updatedAt', \(seconds("set_at")))::text AS record
        FROM before_hooks WHERE \(apps(of: request, &parameters)) ORDER BY app LIMIT \(limit(request, &parameters))
        """
    }

    static func keys(_ request: ListRecords, _ parameters: inout [PostgresParameter]) -> String {
        var condition = names("id", request, &parameters)
        if request.app != nil { condition += " AND app = \(app(request, &parameters))" }
        return """
            SELECT id AS key, \(APIKeyStore.record) AS record FROM api_keys k WHERE \(condition)
            ORDER BY id LIMIT \(limit(request, &parameters))
            """
    }
}
