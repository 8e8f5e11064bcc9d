package import PostgresStore
internal import SignalingWire

/// What is to be changed of the rules for an app's calls to telephones; what is not said stays.
package struct PhonePolicyPatch: Equatable, Sendable {
    /// The longest list of numbers. Lists and their entries are bounded, because each call searches them.
    package static let longestList = 200
    /// The bytes of an entry.
    package static let entryBytes = 1...32
    /// Calls at once or in a minute.
    package static let calls = 0...10_000
    /// Seconds that a call may last.
    package static let callSeconds = 1...43_200

    static let everything = "any"
    static let nothing = "none"

    /// The starts of numbers that may be called, or `any` or `none` alone.
    package var allow = Named<[String]>.unsaid
    /// The numbers that callers may be shown under, likewise.
    package var callerID = Named<[String]>.unsaid
    /// Calls of one user at once.
    package var userCalls: Int?
    /// New calls of one user in a minute.
    package var userCallsPerMinute: Int?
    /// Calls of the app at once.
    package var appCalls: Int?
    /// New calls of the app in a minute.
    package var appCallsPerMinute: Int?
    /// Seconds that a call may last.
    package var longestCall: Int?

    /// Changes nothing.
    package init() {}

    /// Checks each value by itself.
    package func check() throws(SettingProblem) {
        try Self.check(allow.given, of: "allow")
        try Self.check(callerID.given, of: "callerId")
        try Rule.check(userCalls, of: "userCalls", in: Self.calls)
        try Rule.check(userCallsPerMinute, of: "userCallsPerMinute", in: Self.calls)
        try Rule.check(appCalls, of: "appCalls", in: Self.calls)
        try Rule.check(appCallsPerMinute, of: "appCallsPerMinute", in: Self.calls)
        try Rule.check(longestCall, of: "longestCall", in: Self.callSeconds)
    }

    private static func check(_ list: [String]?, of name: String) throws(SettingProblem) {
        guard let list else { return }
        guard list.count <= longestList else {
            throw SettingProblem(name, "must have at most \(longestList) entries", found: "a list of \(list.count)")
        }
        for entry in list {
            try Rule.check(
                entry, of: name,
                "must have entries of 1 to \(entryBytes.upperBound) visible ASCII characters"
            ) { entryBytes.contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
        }
        guard list.count <= 1 || !list.contains(where: { $0 == everything || $0 == nothing }) else {
            throw SettingProblem(name, "must have any and none alone")
        }
    }

    /// Sets what is named.
    package func apply(to policy: inout PhonePolicy) {
        policy.callees = Self.numbers(allow, policy.callees)
        policy.callers = Self.numbers(callerID, policy.callers)
        policy.callsPerUser = userCalls ?? policy.callsPerUser
        policy.newCallsPerUser = userCallsPerMinute ?? policy.newCallsPerUser
        policy.callsPerApp = appCalls ?? policy.callsPerApp
        policy.newCallsPerApp = appCallsPerMinute ?? policy.newCallsPerApp
        if let longestCall { policy.longestCall = .seconds(longestCall) }
    }

    private static func numbers(_ named: Named<[String]>, _ former: PhonePolicy.Numbers) -> PhonePolicy.Numbers {
        switch named {
        case .unsaid: former
        case .none: .unsaid
        case .value([everything]): .any
        case .value([nothing]): .listed([])
        case .value(let list): .listed(list)
        }
    }
}

extension PhonePolicy {
    /// The rules as files have them.
    var members: [JSONMember] {
        [
            JSONMember("allow", callees.json), JSONMember("callerId", callers.json),
            JSONMember("userCalls", callsPerUser), JSONMember("userCallsPerMinute", newCallsPerUser),
            JSONMember("appCalls", callsPerApp), JSONMember("appCallsPerMinute", newCallsPerApp),
            JSONMember("longestCall", longestCall.components.seconds),
        ]
    }
}

extension PhonePolicy.Numbers {
    fileprivate var json: JSONValue {
        switch self {
        case .unsaid: .null
        case .any: .array([.string(PhonePolicyPatch.everything)])
        case .listed(let numbers): .array(numbers.map { .string($0) })
        }
    }
}

extension PhonePolicyPatch {
    static let names = [
        "allow", "callerId", "userCalls", "userCallsPerMinute", "appCalls", "appCallsPerMinute", "longestCall",
    ]

    /// Reads one of the rules.
    mutating func read(_ name: String, _ place: FilePlace) throws(SettingProblem) {
        switch name {
        case "allow": allow = try place.named(Self.list)
        case "callerId": callerID = try place.named(Self.list)
        case "userCalls": userCalls = try place.integer()
        case "userCallsPerMinute": userCallsPerMinute = try place.integer()
        case "appCalls": appCalls = try place.integer()
        case "appCallsPerMinute": appCallsPerMinute = try place.integer()
        default: longestCall = try place.integer()
        }
    }

    private static func list(_ place: FilePlace) throws(SettingProblem) -> [String] {
        var texts: [String] = []
        for entry in try place.list() { texts.append(try entry.text()) }
        return texts
    }
}
