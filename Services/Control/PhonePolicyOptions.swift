internal import ArgumentParser
internal import Provisioning
internal import SignalingProtocol

/// The options of `trunk set` with the rules for the app's users: which numbers they may call, under which numbers, how
/// often and how long.
struct PhonePolicyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The start of numbers that the app's users may call, such as +49; may be given again. any: all; none: "
                + "none. At first all in an app that asks for tokens; for an open app it has to be said.",
            valueName: "start"))
    var allow: [String] = []

    @Flag(help: "All numbers, as at first; not for an open app.")
    var noAllow = false

    @Option(
        help: ArgumentHelp(
            "A number that callers may be shown under (srcNum) besides their own and the trunk's user; with * at its "
                + "end, the start of such numbers; may be given again. any: all.",
            valueName: "number"))
    var callerID: [String] = []

    @Flag(help: "No numbers besides callers' own and the trunk's user, as at first.")
    var noCallerID = false

    @Option(help: "Calls of one user to telephones at once; at first \(Limits.phoneCallsPerUser).")
    var userCalls: Int?

    @Option(help: "New calls of one user to telephones in a minute; at first \(Limits.newPhoneCallsPerUser).")
    var userCallsPerMinute: Int?

    @Option(help: "Calls of the app's users to telephones at once; at first \(Limits.phoneCallsPerApp).")
    var appCalls: Int?

    @Option(help: "New calls of the app's users to telephones in a minute; at first \(Limits.newPhoneCallsPerApp).")
    var appCallsPerMinute: Int?

    @Option(help: "Seconds that a call with a telephone may last: 1...43200; at first \(Limits.longestPhoneCall).")
    var longestCall: Int?

    @Option(help: "The URI in P-Asserted-Identity of every call, such as sip:+4930123@example.org.")
    var assertedIdentity: String?

    @Flag(help: "No P-Asserted-Identity.")
    var noAssertedIdentity = false

    @Option(help: "The value of Privacy, such as id.")
    var privacy: String?

    @Flag(help: "No Privacy.")
    var noPrivacy = false

    func validate() throws {
        try TrunkCommand.Set.refuseBoth(allow.first, noAllow, "allow")
        try TrunkCommand.Set.refuseBoth(callerID.first, noCallerID, "caller-id")
        try TrunkCommand.Set.refuseBoth(assertedIdentity, noAssertedIdentity, "asserted-identity")
        try TrunkCommand.Set.refuseBoth(privacy, noPrivacy, "privacy")
    }

    /// Adds to `patch` what the options say.
    func add(to patch: inout TrunkPatch) {
        patch.policy.allow = Named(allow.isEmpty ? nil : allow, isTakenBack: noAllow)
        patch.policy.callerID = Named(callerID.isEmpty ? nil : callerID, isTakenBack: noCallerID)
        patch.policy.userCalls = userCalls
        patch.policy.userCallsPerMinute = userCallsPerMinute
        patch.policy.appCalls = appCalls
        patch.policy.appCallsPerMinute = appCallsPerMinute
        patch.policy.longestCall = longestCall
        patch.assertedIdentity = Named(assertedIdentity, isTakenBack: noAssertedIdentity)
        patch.privacy = Named(privacy, isTakenBack: noPrivacy)
    }
}
