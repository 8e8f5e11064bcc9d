internal import GatewayPages
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore
internal import SignalingTokens

/// Serves the console and the playground beside the server API, and discovery, which the playground's client asks at
/// its own origin.
struct PageResponder: HTTPResponder {
    typealias Context = APIResponder.Context

    fileprivate struct Entry: Sendable {
        let body: ByteBuffer
        let tag: String
        let headers: HTTPFields
    }

    private let api: APIResponder
    private let discovery: @Sendable (String) async -> DiscoveryAnswer
    private let entries: [String: Entry]

    /// - Parameters:
    ///   - api: answers all other requests.
    ///   - discovery: answers `/getaddr`, given the request's target.
    init(api: APIResponder, discovery: @escaping @Sendable (String) async -> DiscoveryAnswer) {
        self.api = api
        self.discovery = discovery
        entries = Dictionary(uniqueKeysWithValues: PageFile.all.map { ($0.path, Entry($0)) })
    }

    func respond(to request: Request, context: Context) async throws -> Response {
        let target = request.head.path ?? "/"
        let path = String(target.prefix { $0 != "?" })
        let isRead = (request.method == .get || request.method == .head) && !APIResponder.mayHaveBody(request)
        guard let response = isRead ? await page(path, target, request) : nil else {
            return try await api.respond(to: request, context: context)
        }
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// Nil when the path is none of the pages'.
    private func page(_ path: String, _ target: String, _ request: Request) async -> Response? {
        if let entry = entries[path] { return entry.response(to: request.headers[.ifNoneMatch]) }
        switch path {
        case "/getaddr":
            let answer = await discovery(target)
            return Response(
                status: HTTPResponse.Status(code: answer.status),
                headers: [.contentType: "application/json", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
        // Relative addresses in the pages need the slash.
        case _ where entries[path + "/"] != nil:
            return Response(status: .permanentRedirect, headers: [.location: path + "/"])
        default: return nil
        }
    }
}

/// What discovery answers.
package struct DiscoveryAnswer: Sendable {
    package let status: Int
    /// JSON.
    package let body: [UInt8]

    package init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}

extension PageResponder.Entry {
    fileprivate init(_ file: PageFile) {
        body = ByteBuffer(bytes: file.content)
        tag = "\"\(ContentDigest.sha256.text(of: String(decoding: file.content, as: UTF8.self)).prefix(32))\""
        var headers: HTTPFields = [
            .contentType: file.type,
            // Kept by the browser, and asked about by its tag, so that pages and programs of one release go together.
            .cacheControl: "no-cache",
            .eTag: tag,
            .contentSecurityPolicy: Self.policy(of: file.page),
            .xContentTypeOptions: "nosniff",
        ]
        for (name, value) in [
            ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ] {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        self.headers = headers
    }

    /// Scripts and styles are files of this origin only. The console talks to this origin; the playground also opens
    /// WebSockets to gateways, whose addresses are known only once it asks discovery.
    private static func policy(of page: PageFile.Page) -> String {
        let connections =
            switch page {
            case .console: "'self'"
            case .playground: "'self' ws: wss:"
            }
        return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src \(connections); "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    }

    /// The file, or that the browser has it already.
    fileprivate func response(to known: String?) -> Response {
        let tags = (known ?? "").split(separator: ",").map { $0.split(separator: " ").joined() }
        guard tags.contains(where: { $0 == tag || $0 == "W/\(tag)" || $0 == "*" }) else {
            return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
        }
        return Response(status: .notModified, headers: headers)
    }
}
