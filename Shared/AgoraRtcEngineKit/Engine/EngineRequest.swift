internal import SignalingProtocol

/// What a join was given.
struct EngineRequest {
    /// The largest number of bytes of ``info``.
    static let infoBytes = 4096

    var key: String
    var channel: String
    var info: String
    var uid: UInt

    var hasValidChannel: Bool { (try? MediaChannelName(channel)) != nil }
    var hasValidInfo: Bool { info.utf8.count <= Self.infoBytes }

    static func isVendorKey(_ text: String) -> Bool { (try? AppID(text)) != nil }
}
