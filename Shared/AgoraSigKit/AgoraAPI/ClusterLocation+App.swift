internal import Foundation
internal import SignalingClient

extension ClusterLocation {
    /// The location that the app has configured, else `HELIOGRAPH_URL` (several URLs separated by commas), else
    /// `HeliographURL` in the app's Info.plist; nil when none of them is set.
    static var ofApp: GatewaySource? {
        current(
            ProcessInfo.processInfo.environment["HELIOGRAPH_URL"],
            Bundle.main.object(forInfoDictionaryKey: "HeliographURL") as? String)
    }
}

extension AgoraAPI {
    /// Sets where the cluster is found, for all later logins. Not part of the old framework.
    /// - Parameter discovery: base URLs that answer `/getaddr`, such as `https://signal.example.org`.
    public class func configure(discovery: String...) { ClusterLocation.configure(.discovery(discovery)) }
}
