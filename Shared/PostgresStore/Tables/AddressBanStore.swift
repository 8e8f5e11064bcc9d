package import BusProtocol

/// The table `address_bans`. Every method throws ``PostgresError``.
package struct AddressBanStore: Sendable {
    private static let columns = """
        b.network::text AS network, floor(extract(epoch FROM b.until))::bigint AS until, b.reason,
        floor(extract(epoch FROM b.created_at))::bigint AS created
        """

    private let pool: PostgresPool

    /// Works on the database of `pool`.
    package init(pool: PostgresPool) { self.pool = pool }

    /// Bans a network until a time in Unix seconds; replaces an earlier ban of the same network.
    /// - Returns: nil when as many others hold as may: ``BusProtocol/AddressBan/bound``.
    package func set(
        _ network: ClientNetwork, until: Int64, reason: String, by cause: AuditCause? = nil
    ) async throws(PostgresError) -> AddressBan? {
        let rows = try await pool.query(
            """
            WITH \(AuditCause.setting("$5"))
            INSERT INTO address_bans AS b (network, until, reason)
            SELECT $1::cidr, to_timestamp($2::bigint), $3 FROM cause
            WHERE (SELECT count(*) FROM address_bans o WHERE o.until > now() AND o.network <> $1::cidr) < $4
            ON CONFLICT (network) DO UPDATE SET until = EXCLUDED.until, reason = EXCLUDED.reason, created_at = now()
            RETURNING \(Self.columns)
            """,
            [
                .text(network.text), .int(until), .text(reason), .int(Int64(AddressBan.bound)), .optional(cause?.text),
            ],
            within: pool.configuration.changeTimeout)
        return try rows.first.map { row throws(PostgresError) in try Self.ban(row) }
    }

    /// Ends a network's ban.
    /// - Returns: false when there is none, or its time is over.
    package func lift(
        _ network: ClientNetwork, by cause: AuditCause? = nil
    ) async throws(PostgresError) -> Bool {
        let rows = try await pool.query(
            """
            WITH \(AuditCause.setting("$2")), lifted AS (
                DELETE FROM address_bans b USING cause WHERE b.network = $1::cidr RETURNING b.until > now() AS held)
            SELECT held FROM lifted
            """, [.text(network.text), .optional(cause?.text)], within: pool.configuration.changeTimeout)
        return try rows.first?.bool("held") ?? false
    }

    /// A page of the bans that hold, by network.
    /// - Parameter after: the network after which the page begins; nil for the first page.
    package func page(after: ClientNetwork?, limit: Int) async throws(PostgresError) -> [AddressBan] {
        try await pool.query(
            """
            SELECT \(Self.columns) FROM address_bans b
            WHERE b.until > now() AND (nullif($1, '') IS NULL OR b.network > nullif($1, '')::cidr) ORDER BY b.network LIMIT $2
            """, [.text(after?.text ?? ""), .int(Int64(limit))], within: pool.configuration.actTimeout
        ).map { row throws(PostgresError) in try Self.ban(row) }
    }

    /// The networks whose bans hold, in order.
    package func networks() async throws(PostgresError) -> [ClientNetwork] {
        var networks: [ClientNetwork] = []
        let rows = try await pool.query(
            "SELECT b.network::text AS network FROM address_bans b WHERE b.until > now() ORDER BY 1 LIMIT $1",
            [.int(Int64(AddressBan.bound))], within: pool.configuration.actTimeout)
        for row in rows {
            // One that was written by hand and is too wide keeps nobody out.
            if let network = ClientNetwork(try row.string("network")) { networks.append(network) }
        }
        return networks
    }

    /// Deletes bans that ended more than a day ago.
    package func prune() async throws(PostgresError) {
        try await pool.query("DELETE FROM address_bans WHERE until < now() - interval '1 day'")
    }

    private static func ban(_ row: PostgresRow) throws(PostgresError) -> AddressBan {
        guard let network = ClientNetwork(try row.string("network")) else {
            throw PostgresError(.shape, "address_bans has a network that is too wide, or mapped")
        }
        return AddressBan(
            network, until: try row.int64("until"), reason: try row.string("reason"),
            createdAt: try row.int64("created"))
    }
}
