internal import Foundation
internal import NIOConcurrencyHelpers
internal import SignalingClient

/// Where ``AgoraAPI`` finds the cluster.
enum ClusterLocation {
    private static let configured = NIOLockedValueBox<GatewaySource?>(nil)

    static func configure(_ source: GatewaySource) { configured.withLockedValue { $0 = source } }

    /// The location that the app has configured, else `HELIOGRAPH_URL` (several URLs separated by commas), else
    /// `HeliographURL` in the app's Info.plist; nil when none of them is set.
    static var current: GatewaySource? {
        if let source = configured.withLockedValue({ $0 }) { return source }
        let text =
            ProcessInfo.processInfo.environment["HELIOGRAPH_URL"]
            ?? Bundle.main.object(forInfoDictionaryKey: "HeliographURL") as? String
        let urls = (text ?? "").split(whereSeparator: { $0 == "," || $0 == " " }).map(String.init)
        return urls.isEmpty ? nil : .discovery(urls)
    }
}

extension AgoraAPI {
    /// Sets where the cluster is found, for all later logins. Not part of the old framework.
    /// - Parameter discovery: base URLs that answer `/getaddr`, such as `https://signal.example.org`.
    public class func configure(discovery: String...) { ClusterLocation.configure(.discovery(discovery)) }
}
