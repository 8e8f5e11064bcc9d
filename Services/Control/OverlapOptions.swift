internal import ArgumentParser
internal import PostgresStore

/// How long a secret that is replaced goes on to sign.
struct OverlapOptions: ParsableArguments {
    @Option(
        help: """
            How long requests are signed by the replaced secret too, so that receivers can follow: 0...7d, such as 90m, 12h \
            or 1d; 0: not at all. By default 1d.
            """)
    var overlap = TimeSpan(duration: WebhookStore.standardOverlap)

    func validate() throws {
        guard overlap.duration <= WebhookStore.longestOverlap else { throw ValidationError("--overlap must be 0...7d") }
    }

    var duration: Duration { overlap.duration }
}

/// A whole number of seconds, or of minutes, hours or days with their letter.
struct TimeSpan: ExpressibleByArgument {
    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]

    let duration: Duration

    init(duration: Duration) { self.duration = duration }

    init?(argument: String) {
        let digits = argument.prefix { $0.isASCII && $0.isWholeNumber }
        let suffix = argument[digits.endIndex...]
        // Nine digits of days do not overflow.
        guard digits.utf8.count <= 9, let number = Int64(digits), suffix.count <= 1,
            let unit = Self.units[suffix.first ?? "s"]
        else { return nil }
        duration = .seconds(number * unit)
    }

    var defaultValueDescription: String { "\(duration.components.seconds / 86_400)d" }
}
