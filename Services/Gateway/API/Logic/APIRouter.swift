internal import SignalingProtocol

/// Finds the operation of a request line.
package enum APIRouter {
    /// The operation and its parameters, percent-decoded, by name.
    package struct Match: Equatable, Sendable {
        package let route: APIRoute
        package let parameters: [String: String]
    }

    private struct Template: Sendable {
        let route: APIRoute
        /// The segments; nil for a parameter.
        let segments: [(text: String, isParameter: Bool)]

        init(_ route: APIRoute) {
            self.route = route
            segments = route.template.split(separator: "/").map { part in
                part.hasPrefix("{") ? (String(part.dropFirst().dropLast()), true) : (String(part), false)
            }
        }

        /// The parameters' raw texts; nil when the path is another.
        func parameters(of path: [Substring]) -> [(name: String, text: Substring)]? {
            guard path.count == segments.count else { return nil }
            var parameters: [(name: String, text: Substring)] = []
            for (segment, text) in zip(segments, path) {
                if segment.isParameter {
                    parameters.append((segment.text, text))
                } else if segment.text != text {
                    return nil
                }
            }
            return parameters
        }
    }

    private static let templates = APIRoute.allCases.map(Template.init)

    /// Finds the operation.
    /// - Parameter path: the path without the query, as in the request line. A slash in a name is written `%2F`.
    /// - Throws: ``APIProblem`` with ``APIErrorCode/notFound``, ``APIErrorCode/methodNotAllowed`` or
    ///   ``APIErrorCode/malformed``.
    package static func match(method: String, path: Substring) throws(APIProblem) -> Match {
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        var allowed: [String] = []
        for template in templates {
            guard path.hasPrefix("/"), let raw = template.parameters(of: segments) else { continue }
            guard template.route.method == method else {
                allowed.append(template.route.method)
                continue
            }
            var parameters: [String: String] = [:]
            for (name, text) in raw {
                guard let value = PercentEscape.unescape(String(text), allowsLowerCase: true) else {
                    throw APIProblem(.malformed, "the path's \(name) is not percent-encoded UTF-8", field: name)
                }
                parameters[name] = value
            }
            return Match(route: template.route, parameters: parameters)
        }
        guard allowed.isEmpty else {
            var problem = APIProblem(.methodNotAllowed, "the path does not have this method")
            problem.allowed = allowed
            throw problem
        }
        throw APIProblem(.notFound, "there is no such path")
    }
}
