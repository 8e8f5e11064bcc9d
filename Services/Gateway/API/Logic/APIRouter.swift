internal import SignalingProtocol

/// Finds the operation of a request line.
package enum APIRouter {
    /// The operation and its parameters, percent-decoded, by name.
    package struct Match: Equatable, Sendable {
        package let operation: APIOperation
        package let parameters: [String: String]
    }

    /// Finds the operation.
    /// - Parameter path: the path without the query, as in the request line. A slash in a name is written `%2F`.
    /// - Throws: ``APIProblem`` with ``APIErrorCode/notFound``, ``APIErrorCode/methodNotAllowed`` or
    ///   ``APIErrorCode/malformed``.
    package static func match(method: String, path: Substring) throws(APIProblem) -> Match {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        // A path begins with a slash.
        let segments = parts.first?.isEmpty == true ? parts.dropFirst().map { Substring($0) } : []
        var allowed: [String] = []
        for operation in bySegments[segments.count] ?? [] {
            guard let raw = parameters(of: operation, in: segments) else { continue }
            guard operation.method == method else {
                allowed.append(operation.method)
                continue
            }
            var parameters: [String: String] = [:]
            for (name, text) in raw {
                guard let value = PercentEscape.unescape(String(text), allowsLowerCase: true) else {
                    throw APIProblem(.malformed, "the path's \(name) is not percent-encoded UTF-8", field: name)
                }
                parameters[name] = value
            }
            return Match(operation: operation, parameters: parameters)
        }
        guard allowed.isEmpty else {
            var problem = APIProblem(.methodNotAllowed, "the path does not have this method")
            problem.allowed = allowed
            throw problem
        }
        throw APIProblem(.notFound, "there is no such path")
    }

    /// The operations by the number of their paths' segments.
    private static let bySegments = Dictionary(grouping: APIOperation.all, by: \.segments.count)

    /// The parameters' raw texts; nil when the path, which has as many segments, is not the operation's.
    private static func parameters(
        of operation: APIOperation, in path: [Substring]
    ) -> [(name: String, text: Substring)]? {
        var parameters: [(name: String, text: Substring)] = []
        for (segment, text) in zip(operation.segments, path) {
            if segment.isParameter {
                parameters.append((segment.text, text))
            } else if segment.text != text {
                return nil
            }
        }
        return parameters
    }
}
