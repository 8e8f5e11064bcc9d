/// The URLs of Redis and PostgreSQL, whose passwords may be settings of their own.
///
/// `HELIOGRAPH_REDIS_PASSWORD` and `HELIOGRAPH_POSTGRES_PASSWORD` are used with the URL's user; the URL then contains
/// none. Each of the four settings may be in a file instead (``EnvironmentReader/secret(_:default:_:)``).
package enum StoreURL {
    /// Where Redis is by default.
    package static let standardRedis = "redis://127.0.0.1:6379"
    /// Where PostgreSQL is by default.
    package static let standardPostgres = "postgresql://heliograph@127.0.0.1:5432/heliograph"

    /// Reads Redis' URL, with its password.
    package static func redis(reading reader: inout EnvironmentReader) -> String {
        read("REDIS", standard: standardRedis, "Redis", &reader)
    }

    /// Reads PostgreSQL's URL, with its password.
    package static func postgres(reading reader: inout EnvironmentReader) -> String {
        read("POSTGRES", standard: standardPostgres, "PostgreSQL", &reader)
    }

    private static func read(
        _ store: String, standard: String, _ name: String, _ reader: inout EnvironmentReader
    ) -> String {
        let url = reader.secret("\(store)_URL", default: standard, "where \(name) is")
        let password = reader.secret("\(store)_PASSWORD", default: "", "\(name)'s password, if the URL contains none")
        if password.isEmpty { return url }
        if let whole = adding(password, to: url) { return whole }
        reader.reject("\(store)_PASSWORD", "must not be set together with a password in the URL")
        return url
    }

    /// - Returns: the URL with a password for its user; nil when it contains one.
    static func adding(_ password: String, to url: String) -> String? {
        // What is no URL is refused where URLs are checked.
        guard let start = url.firstRange(of: "://")?.upperBound else { return url }
        let end = url[start...].firstIndex { "/?#".contains($0) } ?? url.endIndex
        if url[end...].contains(/[?&]password=/) { return nil }
        guard let at = url[start..<end].lastIndex(of: "@") else {
            return "\(url[..<start]):\(encoded(password))@\(url[start...])"
        }
        if url[start..<at].contains(":") { return nil }
        return "\(url[..<at]):\(encoded(password))\(url[at...])"
    }

    /// Percent-encodes all but letters, digits and `-._~`.
    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: String(UnicodeScalar(byte))
            default: "%" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}
