internal import NIOConcurrencyHelpers
internal import SignalingWire

/// The app id that an instance was made with.
final class AgoraIdentity: Sendable {
    private let stored = NIOLockedValueBox("")

    var app: String {
        get { stored.withLockedValue { $0 } }
        set { stored.withLockedValue { $0 = newValue } }
    }

    /// `extra` with the number to show to the phone; an `extra` that is no JSON object is left out.
    static func extra(_ extra: String, source: String) -> String {
        guard !source.isEmpty else { return extra }
        var members: [JSONMember] = []
        if case .object(let given)? = try? JSONValue.parse(extra.utf8) {
            members = given.filter { $0.name != "srcNum" }
        }
        members.append(JSONMember("srcNum", .string(source)))
        return JSONValue.object(members).compactText
    }
}
