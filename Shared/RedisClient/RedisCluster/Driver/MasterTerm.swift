package import NIOCore

/// A stretch of time in which a client has been connected to a master and the master has owned its slots. Another
/// begins with each connect, and when the master takes over the slots of one that is gone.
///
/// What others must renew, such as a lease or a claim, is not to be judged early in a term: as long as the master
/// was away, nobody could renew it.
package struct MasterTerm: Sendable, Equatable {
    /// The master's address.
    package let address: NodeAddress
    /// Distinguishes the terms of a client, of all masters.
    package let number: Int
    /// When the term began.
    package let begin: NIODeadline
}
