internal import SignalingProtocol

/// The rules for phone calls over an app's trunk: which numbers users may call, which caller ids they may use, and how many
/// and how long calls may be.
package struct PhonePolicy: Equatable, Sendable {
    /// A list of allowed numbers, or the rule that applies instead of one.
    package enum Numbers: Equatable, Sendable {
        /// Not configured. Callees: all when the app requires tokens, none when it does not. Callers: only the account's own
        /// numbers.
        case unsaid
        /// Every number, allowed explicitly.
        case any
        /// Only these numbers; an empty list allows none.
        case listed([String])
    }

    /// Prefixes of the numbers that users may call, compared as dialled: a `+` counts as a character.
    package var callees = Numbers.unsaid
    /// Caller ids (`srcNum`) allowed besides the account's own numbers and the trunk's user: whole numbers, or prefixes that
    /// end in `*`.
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
    ///   - isOpen: whether the app accepts logins without a token.
    package func allowsCallee(_ name: String, isOpen: Bool) -> Bool {
        switch callees {
        case .unsaid: !isOpen
        case .any: true
        case .listed(let starts): starts.contains { name.utf8.starts(with: $0.utf8) }
        }
    }

    /// Whether the list allows a caller id. The account's own numbers are always allowed, but must be checked by the caller
    /// of this method.
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
