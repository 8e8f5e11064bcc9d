internal import PostgresStore
internal import RedisStore
internal import SignalingProtocol

/// Fills the cache of channels' attributes from PostgreSQL, where they are kept.
struct ChannelAttributeCache: Sendable {
    /// Reads of PostgreSQL before it is left to the timer: each was overtaken by a concurrent change.
    private static let attempts = 3

    let functions: ChannelFunctions
    let store: AttributeStore

    /// Reads PostgreSQL and fills the cache.
    /// - Parameters:
    ///   - account: in whose name differences are published; nil: in that of nobody, as number 0.
    /// - Returns: what was read, and its version.
    @discardableResult
    func load(_ channel: ChannelKey, account: Account, uid: UInt32) async throws(SignalingError) -> VersionedAttributes
    {
        var read = VersionedAttributes(version: 0, attributes: [])
        for _ in 0..<Self.attempts {
            do {
                read = try await store.channelAttributes(channel)
            } catch {
                throw error.signaling
            }
            let isTaken = try await functions.load(
                read.attributes, version: read.version, account: account, uid: uid, channel)
            if isTaken { break }
        }
        return read
    }
}
