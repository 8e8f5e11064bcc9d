internal import SignalingProtocol

/// What the users of an app may do with its trunk: whom they may call, as whom, how often and for how long.
package struct PhonePolicy: Equatable, Sendable {
    /// A list of numbers, or the rule that stands where nobody gave one.
    package enum Numbers: Equatable, Sendable {
        /// Nobody said. Callees: all in an app that asks for tokens, none in an open one. Callers: the account's own.
        case unsaid
        /// Every number, in so many words.
        case any
        /// These only; none when empty.
        case listed([String])
    }

    /// Whom users may call: starts of numbers, as they are dialled. The `+` is one of the characters.
    package var callees = Numbers.unsaid
    /// What a caller may be shown as (`srcNum`) besides the account's own numbers and the trunk's user: numbers, or starts of
    /// numbers with `*` behind them.
    package var callers = Numbers.unsaid
    /// Calls of one user to telephones at once.
    package var callsPerUser = Limits.phoneCallsPerUser
    /// New calls of one user to telephones in a minute.
    package var newCallsPerUser = Limits.newPhoneCallsPerUser
    /// Calls of all users to telephones at once.
    package var callsPerApp = Limits.phoneCallsPerApp
    /// New calls of all users to telephones in a minute.
    package var newCallsPerApp = Limits.newPhoneCallsPerApp
    /// Seconds from the answer to the end of a call with a telephone, at most.
    package var longestCall = Limits.longestPhoneCall

    /// What stands where nobody said anything.
    package init() {}

    /// Whether a telephone may be called.
    /// - Parameters:
    ///   - name: the user part of the URI that is dialled, without escapes.
    ///   - isOpen: the app takes logins without a token.
    package func allowsCallee(_ name: String, isOpen: Bool) -> Bool {
        switch callees {
        case .unsaid: !isOpen
        case .any: true
        case .listed(let starts): starts.contains { name.utf8.starts(with: $0.utf8) }
        }
    }

    /// Whether the list has a caller's number; the account's own numbers are the asker's to look at.
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
    /// As it is stored: nil, `any`, or the numbers with spaces between them.
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
