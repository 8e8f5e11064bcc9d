/// Why a dynamic key admits nobody.
package enum DynamicKeyError: Error, Equatable, Sendable, CaseIterable {
    /// The app requires a key, and there was none.
    case required
    /// The text is not a key of version 003, 004 or 005.
    case malformed
    /// The key was made for another app, channel, user or service, or with another certificate.
    case wrong
    /// The key is genuine, but was not used in time, or its service has ended.
    case expired
}
