/// Environment variables named `HELIOGRAPH_...` that a process ignores with a warning.
///
/// An unknown name does not stop a process: an older release must start with the settings of a newer one, or going back
/// would be impossible. The same holds for variables that Kubernetes sets in every container for the services of
/// its namespace: a service named `heliograph-gateway` sets `HELIOGRAPH_GATEWAY_PORT` to `tcp://10.0.0.1:8443`,
/// which is also the name of a setting.
package struct IgnoredSettings: Equatable, Sendable {
    /// A name that is not a setting of this process.
    package struct Unknown: Equatable, Sendable {
        /// The variable's name.
        package let name: String
        /// The setting with the most similar name; nil when none is similar.
        package let nearest: String?
    }

    /// Names that are not settings of this process, sorted.
    package let unknown: [Unknown]
    /// Names that Kubernetes has set, sorted; some of them are also names of settings, which then have their defaults.
    package let serviceLinks: [String]

    /// Finds the ignored variables in `environment`. Empty values count as not set.
    /// - Parameter known: the names of this process's settings.
    init(environment: [String: String], known: [String]) {
        var unknown: [Unknown] = []
        var links: [String] = []
        for (name, value) in environment where name.hasPrefix(EnvironmentReader.prefix) && !value.isEmpty {
            if Self.isServiceLink(name, value) {
                links.append(name)
            } else if !known.contains(name) {
                unknown.append(Unknown(name: name, nearest: Self.nearest(to: name, of: known)))
            }
        }
        self.unknown = unknown.sorted { $0.name < $1.name }
        serviceLinks = links.sorted()
    }

    /// Lines for the log: at most one about unknown names and one about service links.
    package var lines: [String] {
        var lines: [String] = []
        if !unknown.isEmpty {
            let names = unknown.map { unknown in
                unknown.nearest.map { "\(unknown.name) (did you mean \($0)?)" } ?? unknown.name
            }
            lines.append("not settings of this service, ignored: \(names.joined(separator: ", "))")
        }
        if !serviceLinks.isEmpty {
            let names = serviceLinks.joined(separator: ", ")
            lines.append("set by Kubernetes' service links (enableServiceLinks), ignored: \(names)")
        }
        return lines
    }

    /// Whether a variable is one that Kubernetes, or Docker's old links, set for a service: `X_SERVICE_HOST`,
    /// `X_SERVICE_PORT`, `X_SERVICE_PORT_NAME`, `X_PORT_80_TCP...`, and `X_PORT` with a value such as
    /// `tcp://10.0.0.1:80`. A setting `..._PORT` takes a number, so its value never looks like this; no setting
    /// has a name of the other forms.
    static func isServiceLink(_ name: String, _ value: String) -> Bool {
        if name.hasSuffix("_PORT"), value.wholeMatch(of: #/(?:tcp|udp|sctp)://[^/\s]+:[0-9]+/#) != nil { return true }
        return [
            #/HELIOGRAPH(?:_.+)?_SERVICE_(?:HOST|PORT(?:_.+)?)/#,
            #/HELIOGRAPH(?:_.+)?_PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_PROTO|_PORT|_ADDR)?/#,
        ].contains { name.wholeMatch(of: $0) != nil }
    }

    /// The known name at the smallest edit distance from `name`; nil when that is more than a third of the letters.
    private static func nearest(to name: String, of known: [String]) -> String? {
        let text = Array(name.utf8.dropFirst(EnvironmentReader.prefix.utf8.count))
        let distances = known.map { candidate in
            let other = Array(candidate.utf8.dropFirst(EnvironmentReader.prefix.utf8.count))
            return (candidate, distance(text, other))
        }
        return distances.min { $0.1 < $1.1 }.flatMap { $0.1 * 3 <= text.count ? $0.0 : nil }
    }

    /// The Levenshtein distance: insertions, removals and replacements.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (i, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, other) in right.enumerated() {
                let replaced = diagonal + (letter == other ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
