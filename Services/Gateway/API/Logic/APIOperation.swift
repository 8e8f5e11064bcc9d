package import BusProtocol
internal import SignalingProtocol

/// An operation of the server API: a row of ``all``. The router, the 405 with `Allow`, the checks of a request and the
/// comparison with `Docs/openapi.json` read it.
///
/// A class, so that a request refers to its row instead of copying it.
package final class APIOperation: Sendable {
    /// Which key a request needs.
    package enum Access: Sendable {
        /// None.
        case anybody
        case anyKey
        /// A key that is allowed this.
        case key(APIScope)
        /// A key of the cluster that is allowed this, because the operation is about all apps.
        case clusterKey(APIScope)
    }

    /// What a request has besides its path.
    package enum Input: Sendable {
        case nothing
        /// Parameters after the question mark, by name.
        case query([String])
        /// A JSON object of so many bytes at most.
        /// - Parameters:
        ///   - changes: whether the operation changes something.
        ///   - query: the names of parameters after the question mark.
        case body(upTo: Int = usualBody, changes: Bool = true, query: [String] = [])
    }

    /// A method of ``APIArguments`` that checks them and makes an act of them.
    typealias Check = @Sendable (APIArguments) -> () throws(APIProblem) -> APIAct

    /// Bytes of the largest bodies, which have many messages.
    package static let largestBody = 1 << 20
    /// Bytes of all other bodies: two values at their bounds, all of whose characters are escaped.
    package static let usualBody = 128 << 10

    /// All operations. Where several have the same path, `Allow` lists their methods in this order.
    package static let all: [APIOperation] = [
        cluster, calls, events, lists, messages, users, mailboxes, attributes, channels, moderation, addressBans,
        settings, keys,
    ].flatMap(\.self)

    /// The operation's id in `Docs/openapi.json`.
    package let id: String
    /// The HTTP method.
    package let method: String
    /// The path with its parameters in braces.
    package let template: String
    /// Which key a request needs.
    package let access: Access
    /// What a request has besides its path.
    package let input: Input
    /// Makes an act of a request's arguments.
    let act: Check
    /// The segments of the path.
    let segments: [Segment]

    /// A segment of the path.
    struct Segment: Sendable {
        /// The parameter's name, or else the segment itself.
        let text: String
        let isParameter: Bool
    }

    /// - Parameter line: the method, a space and the path, with its parameters in braces.
    init(_ id: String, _ line: String, _ access: Access, _ input: Input = .nothing, act: @escaping Check) {
        self.id = id
        let template = line.drop { $0 != " " }.dropFirst()
        method = String(line.prefix { $0 != " " })
        self.template = String(template)
        self.access = access
        self.input = input
        self.act = act
        segments = template.split(separator: "/").map { part in
            let isParameter = part.hasPrefix("{")
            return Segment(text: String(isParameter ? part.dropFirst().dropLast() : part), isParameter: isParameter)
        }
    }

    /// What the key must be allowed; nil where any key will do, or none is needed.
    package var scope: APIScope? {
        switch access {
        case .anybody, .anyKey: nil
        case .key(let scope), .clusterKey(let scope): scope
        }
    }

    /// Whether the key must be one of the cluster.
    package var needsClusterKey: Bool { if case .clusterKey = access { true } else { false } }

    /// Whether the operation needs no key.
    package var isPublic: Bool { if case .anybody = access { true } else { false } }

    /// Whether the request must have a body.
    package var hasBody: Bool { if case .body = input { true } else { false } }

    /// Bytes of the body at most. A body that the operation does not need is refused beyond them, too.
    package var bodyBound: Int { if case .body(let bound, _, _) = input { bound } else { Self.usualBody } }

    /// The names of the parameters after the question mark.
    var parameters: [String] {
        switch input {
        case .nothing: []
        case .query(let names), .body(_, _, let names): names
        }
    }

    /// Whether the operation changes something, so that it may have an idempotency key.
    package var isWrite: Bool {
        switch input {
        case .nothing, .query: method != "GET"
        case .body(_, let changes, _): changes
        }
    }
}

extension APIOperation: Equatable {
    package static func == (one: APIOperation, other: APIOperation) -> Bool { one === other }
}
