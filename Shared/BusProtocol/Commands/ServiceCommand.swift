package import SignalingProtocol

/// A request to a service, sent over its command stream; the reply is published to the sender's topic.
///
/// Commands are delivered at least once. A service recognises a repeated one by its id, so that it takes effect once.
/// The envelope's fields come before them, and may have the same names.
package protocol ServiceCommand: Equatable, Sendable, FieldRecord {
    /// The service's reply.
    associatedtype Reply: Equatable, Sendable, FieldCodable
    /// The service that handles the command.
    static var service: ServiceName { get }
    /// The command's name on the stream, unique within the service, such as `session.open`.
    static var operation: String { get }
    /// The level from which processes know the command; default 1. It is sent only while all running processes have it.
    static var level: Int64 { get }
    /// What the command is about: the data that it reads or changes, or most of it.
    var subject: Subject { get }
    /// The media node that alone handles the command; nil (the default) for a command that any
    /// process of the service may handle.
    var node: MediaNodeID? { get }
    /// Whether the command is sent even when Redis is at `maxmemory`, because it frees memory or keeps something alive.
    /// Default false.
    var isVital: Bool { get }
    /// Whether the command may go over any partition of the bus, not only over its subject's. True for a command that
    /// changes nothing and whose handler reads nothing in Redis: it then need not wait for a master that is away.
    /// Default false.
    static var goesToAnyPartition: Bool { get }
}

extension ServiceCommand {
    /// False: most commands are about data of the partition's slots.
    package static var goesToAnyPartition: Bool { false }
    /// Nil: most commands are for whichever process is free.
    package var node: MediaNodeID? { nil }
    /// 1: known to all.
    package static var level: Int64 { 1 }

    /// False: most commands may be refused when Redis is full.
    package var isVital: Bool { false }
}

/// A reply that means success and carries nothing else.
package struct Done: Equatable, Sendable, FieldRecord {
    package init() {}

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) { self.init() }
}
