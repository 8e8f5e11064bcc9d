public import ServiceKit

/// The SIP bridge's own settings.
public struct SIPBridgeConfiguration: Sendable {
    /// The address that the SIP listener binds to.
    public var host: String
    /// Its UDP port; 0 takes any that is free.
    public var port: Int

    /// Reads them from the environment.
    public init(reading reader: inout EnvironmentReader) {
        host = reader.string("SIP_HOST", default: "127.0.0.1", "address of the SIP listener")
        port = reader.int("SIP_PORT", default: 5060, in: 0...65_535, "UDP port of the SIP listener, 0 for any")
    }
}
