internal import BusProtocol
package import ClusterBus
package import PostgresStore

extension AuditCause {
    /// The request for which a command was sent by a gateway.
    package init(_ context: CommandContext) {
        self = .key(
            context.cause.key, request: context.cause.request, trace: context.cause.trace, command: context.id)
    }
}
