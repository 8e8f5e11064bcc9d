internal import BusProtocol
internal import SignalingProtocol

/// The stream of an app's events.
extension APIOperation {
    static let events: [APIOperation] = [
        APIOperation(
            "followEvents", "GET /v1/apps/{app}/events", .key(.read), .query(["kinds", "after"]),
            act: APIArguments.followEvents)
    ]
}

extension APIArguments {
    /// The header has priority over the parameter, which a client keeps when it connects again.
    fileprivate func followEvents() throws(APIProblem) -> APIAct {
        let words = try query.text("kinds", bytes: APIAct.positionBytes)?.split(separator: ",").map(String.init)
        var kinds: Set<EventKind> = []
        for word in words ?? EventKind.standard.map(\.rawValue) {
            guard let kind = EventKind(rawValue: word) else {
                throw APIProblem.invalid("kinds", Self.kindsBound)
            }
            kinds.insert(kind)
        }
        guard !kinds.isEmpty else { throw APIProblem.invalid("kinds", Self.kindsBound) }
        let field = lastEventID == nil ? "after" : "Last-Event-ID"
        let after = try query.text("after", bytes: APIAct.positionBytes)
        let text = lastEventID ?? after ?? ""
        let position = EventPosition(text)
        guard text.isEmpty || position != nil else { throw APIProblem.invalid(field, "the id of an event") }
        return .follow(try app(), kinds: kinds, after: position)
    }

    private static var kindsBound: String {
        "one or more of \(EventKind.allCases.map(\.rawValue).joined(separator: ", ")), with commas between them"
    }
}
