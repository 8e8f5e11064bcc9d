internal import NIOConcurrencyHelpers
internal import SignalingClient
internal import SignalingWire

/// The app id with which an instance was created.
final class AgoraIdentity: Sendable {
    private let stored = NIOLockedValueBox("")

    var app: String {
        get { stored.withLockedValue { $0 } }
        set { stored.withLockedValue { $0 = newValue } }
    }

    /// A login's configuration; nil when no address of the cluster is set.
    /// - Parameter app: the login's own app id; empty for ``app``.
    func configuration(app: String, account: String, token: String) -> ClientConfiguration? {
        ClusterLocation.ofApp.map { source in
            ClientConfiguration(
                app: app.isEmpty ? self.app : app, account: account, token: token, source: source)
        }
    }

    /// Adds to `extra` the number that the telephone is to show. An `extra` that is not a JSON object is dropped.
    static func extra(_ extra: String, source: String) -> String {
        guard !source.isEmpty else { return extra }
        var members: [JSONMember] = []
        if case .object(let given)? = try? JSONValue.parse(extra.utf8) {
            members = given.filter { $0.name != "srcNum" }
        }
        members.append(JSONMember("srcNum", source))
        return JSONValue.object(members).compactText
    }
}
