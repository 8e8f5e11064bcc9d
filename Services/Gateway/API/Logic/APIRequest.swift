package import SignalingProtocol
package import SignalingWire

/// A request whose path is known; its other arguments are still to be checked.
package struct APIRequest: Sendable {
    package let match: APIRouter.Match
    private let query: Substring?
    /// The header `Last-Event-ID`, by which a client resumes a stream of events.
    package var lastEventID: String?

    /// - Parameter target: the path and the query, as in the request line.
    /// - Throws: ``APIProblem``, as ``APIRouter/match(method:path:)``.
    package init(method: String, target: String) throws(APIProblem) {
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        match = try APIRouter.match(method: method, path: target[..<(mark ?? target.endIndex)])
        query = mark.map { target[target.utf8.index(after: $0)...] }
    }

    package var operation: APIOperation { match.operation }

    /// The app of the path; nil when it has none.
    /// - Throws: ``APIProblem`` with ``APIErrorCode/invalidArgument``.
    package func app() throws(APIProblem) -> AppID? {
        guard let text = match.parameters["app"] else { return nil }
        return try APINames.app(text)
    }

    /// Checks all arguments.
    /// - Parameter body: nil when the operation has none.
    /// - Throws: ``APIProblem`` with ``APIErrorCode/invalidArgument`` or ``APIErrorCode/malformed``.
    package func act(body: JSONValue?) throws(APIProblem) -> APIAct {
        let query = try APIQuery(query, known: operation.parameters)
        let arguments = APIArguments(
            path: match.parameters, query: query, body: body ?? .null, lastEventID: lastEventID)
        return try operation.act(arguments)()
    }
}
