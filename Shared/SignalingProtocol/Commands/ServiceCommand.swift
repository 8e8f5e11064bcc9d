/// A request to a service, sent over its command stream and answered on the sender's topic.
///
/// Commands are delivered at least once; a service recognises a repeated one by its id, so that it takes effect once.
package protocol ServiceCommand: Equatable, Sendable {
    /// What the service answers.
    associatedtype Reply: Equatable, Sendable
    /// The service that takes it.
    static var service: ServiceName { get }
    /// Its name on the stream, unique within the service: `session.open`.
    static var operation: String { get }
    /// Whether the command is sent even when Redis has no memory left, because it frees memory or keeps something alive.
    /// Default false.
    var isVital: Bool { get }
}

extension ServiceCommand {
    /// Most commands may be refused when Redis is full.
    package var isVital: Bool { false }
}

/// The answer that carries nothing but success.
package struct Done: Equatable, Sendable {
    package init() {}
}

/// A member of a channel as lists show it.
package struct Member: Hashable, Sendable {
    /// The user.
    package var account: Account
    /// The number that login returned for the account.
    package var uid: UInt32

    package init(account: Account, uid: UInt32) {
        self.account = account
        self.uid = uid
    }
}

/// An attribute of a user or a channel.
package struct Attribute: Hashable, Sendable {
    /// The name.
    package var name: AttributeName
    /// The value, verbatim.
    package var value: String

    package init(name: AttributeName, value: String) {
        self.name = name
        self.value = value
    }
}
