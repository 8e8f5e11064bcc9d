internal import SignalingProtocol

/// Compare-and-set. A change is committed when its method returns.
extension AttributeStore {
    /// Applies a change to a user's attribute if that is as expected.
    /// - Returns: as ``changeUserAttributes(_:)``; nil when the attribute is not as expected.
    /// - Throws: ``PostgresError``; of kind `nul`, with nothing applied, when a value contains the NUL character.
    package func changeUserAttribute(
        _ change: UserAttributeChange, if expected: String?
    ) async throws(PostgresError) -> Int64? {
        let parameters = Self.parameters([
            (change.command, change.user.app, change.user.account.rawValue, change.change)
        ])
        return try await changeIf(
            "SELECT change_user_attribute_if($1, $2, $3, $4, $5, $6, $7) AS version",
            parameters + [.optional(expected)])
    }

    /// The same for a channel's attribute.
    package func changeChannelAttribute(
        _ change: ChannelAttributeChange, if expected: String?
    ) async throws(PostgresError) -> Int64? {
        let parameters = Self.parameters([
            (change.command, change.channel.app, change.channel.name.rawValue, change.change)
        ])
        return try await changeIf(
            "SELECT change_channel_attribute_if($1, $2, $3, $4, $5, $6, $7, $8) AS version",
            parameters + [.texts([change.account.rawValue]), .optional(expected)])
    }

    private func changeIf(_ sql: String, _ parameters: [PostgresParameter]) async throws(PostgresError) -> Int64? {
        let rows = try await pool.query(sql, parameters, within: pool.configuration.changeTimeout)
        guard let version = try rows.first?.int64("version") else {
            throw PostgresError(.shape, "got no version for a change")
        }
        return version < 0 ? nil : version
    }
}
