internal import ArgumentParser
internal import PostgresStore
internal import SignalingProtocol

/// The options of `trunk set` with the rules for the app's users: which numbers they may call, under which numbers, how
/// often and how long.
struct PhonePolicyOptions: ParsableArguments {
    /// The longest list of numbers. Lists and their entries are bounded, because each call searches them.
    private static let longestList = 200
    private static let longestEntry = 32
    private static let everything = "any"
    private static let nothing = "none"

    @Option(
        help: ArgumentHelp(
            "The start of numbers that the app's users may call, such as +49; may be given again. any: all; none: "
                + "none. By default all in an app that asks for tokens; for an open app it has to be said.",
            valueName: "start"))
    var allow: [String] = []

    @Option(
        help: ArgumentHelp(
            "A number that callers may be shown under (srcNum) besides their own and the trunk's user; with * at its "
                + "end, the start of such numbers; may be given again. any: all.",
            valueName: "number"))
    var callerID: [String] = []

    @Option(help: "Calls of one user to telephones at once.")
    var userCalls = Limits.phoneCallsPerUser

    @Option(help: "New calls of one user to telephones in a minute.")
    var userCallsPerMinute = Limits.newPhoneCallsPerUser

    @Option(help: "Calls of the app's users to telephones at once.")
    var appCalls = Limits.phoneCallsPerApp

    @Option(help: "New calls of the app's users to telephones in a minute.")
    var appCallsPerMinute = Limits.newPhoneCallsPerApp

    @Option(help: "Seconds that a call with a telephone may last: 1...43200.")
    var longestCall = Limits.longestPhoneCall

    @Option(help: "The URI in P-Asserted-Identity of every call, such as sip:+4930123@example.org.")
    var assertedIdentity: String?

    @Option(help: "The value of Privacy, such as id.")
    var privacy: String?

    func validate() throws {
        for list in [allow, callerID] {
            guard list.count <= Self.longestList else {
                throw ValidationError("--allow and --caller-id may be given at most \(Self.longestList) times")
            }
            for entry in list {
                guard (1...Self.longestEntry).contains(entry.utf8.count),
                    entry.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
                else {
                    throw ValidationError(
                        "--allow and --caller-id must have 1 to \(Self.longestEntry) visible ASCII characters")
                }
            }
            let words = list.filter { $0 == Self.everything || $0 == Self.nothing }
            guard words.isEmpty || list.count == 1 else {
                throw ValidationError("any and none cannot be combined with other values")
            }
        }
        for count in [userCalls, userCallsPerMinute, appCalls, appCallsPerMinute] {
            guard (0...10_000).contains(count) else { throw ValidationError("numbers of calls must be 0...10000") }
        }
        guard (1...43_200).contains(longestCall) else { throw ValidationError("--longest-call must be 1...43200") }
        for text in [assertedIdentity, privacy].compactMap(\.self) {
            guard (1...128).contains(text.utf8.count),
                text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"<>\"".utf8.contains($0) })
            else {
                throw ValidationError(
                    "--asserted-identity and --privacy must have 1 to 128 visible characters other than <>\"")
            }
        }
    }

    /// Whether `--allow` was given.
    var saysWhom: Bool { !allow.isEmpty }

    var policy: PhonePolicy {
        var policy = PhonePolicy()
        policy.callees = Self.numbers(allow)
        policy.callers = Self.numbers(callerID)
        policy.callsPerUser = userCalls
        policy.newCallsPerUser = userCallsPerMinute
        policy.callsPerApp = appCalls
        policy.newCallsPerApp = appCallsPerMinute
        policy.longestCall = .seconds(longestCall)
        return policy
    }

    private static func numbers(_ list: [String]) -> PhonePolicy.Numbers {
        switch list {
        case []: .unsaid
        case [everything]: .any
        case [nothing]: .listed([])
        default: .listed(list)
        }
    }
}
