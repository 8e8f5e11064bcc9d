internal import SignalingProtocol

/// The rules for phone calls over an app's trunk: which numbers users may call, which caller ids they may use, and how
/// many and how long calls may be.
package struct PhonePolicy: Equatable, Sendable {
    /// A list of allowed numbers, or the rule that applies instead of one.
    package enum Numbers: Equatable, Sendable {
        /// Not configured. Callees: all when the app requires tokens, none when it does not. Callers:
        /// only the account's own numbers.
        case unsaid
        /// Every number, allowed explicitly.
        case any
        /// Only these numbers; an empty list allows none.
        case listed([String])
    }

    /// Prefixes of the numbers that users may call, compared as dialled: a `+` counts as a character. What is no number
    /// may be called only if it is listed as a whole.
    package var callees = Numbers.unsaid
    /// Caller ids (`srcNum`) allowed besides the account's own numbers and the trunk's user: whole
    /// numbers, or prefixes that end in `*`.
    package var callers = Numbers.unsaid
    /// The largest number of concurrent phone calls of one user.
    package var callsPerUser = Limits.phoneCallsPerUser
    /// The largest number of new phone calls of one user per minute.
    package var newCallsPerUser = Limits.newPhoneCallsPerUser
    /// The largest number of concurrent phone calls of the whole app.
    package var callsPerApp = Limits.phoneCallsPerApp
    /// The largest number of new phone calls of the whole app per minute.
    package var newCallsPerApp = Limits.newPhoneCallsPerApp
    /// The longest phone call, counted from the answer; whole seconds.
    package var longestCall = Duration.seconds(Limits.longestPhoneCall)

    /// The default policy.
    package init() {}

    /// Whether users may call a number.
    /// - Parameters:
    ///   - name: the unescaped user part of the dialled URI.
    ///   - isNumber: whether all of it is a telephone number. A prefix says nothing about the rest of other names,
    ///     which some telephone systems read as several numbers.
    ///   - isOpen: whether the app accepts logins without a token.
    package func allowsCallee(_ name: String, isNumber: Bool, isOpen: Bool) -> Bool {
        switch callees {
        case .unsaid: !isOpen
        case .any: true
        case .listed(let entries):
            entries.contains { isNumber ? name.utf8.starts(with: $0.utf8) : name.utf8.elementsEqual($0.utf8) }
        }
    }

    /// Whether the list allows a caller id. The account's own numbers are always allowed, but must be
    /// checked by the caller of this method.
    package func allowsCaller(_ number: String) -> Bool {
        switch callers {
        case .unsaid: false
        case .any: true
        case .listed(let numbers):
            numbers.contains { listed in
                listed.last == "*" ? number.utf8.starts(with: listed.utf8.dropLast()) : number == listed
            }
        }
    }
}

extension PhonePolicy.Numbers {
    /// The stored form: nil, `any`, or the numbers separated by spaces.
    var text: String? {
        switch self {
        case .unsaid: nil
        case .any: "any"
        case .listed(let numbers): numbers.joined(separator: " ")
        }
    }

    init(text: String?) {
        switch text {
        case nil: self = .unsaid
        case "any": self = .any
        case .some(let numbers): self = .listed(numbers.split(separator: " ").map(String.init))
        }
    }
}
