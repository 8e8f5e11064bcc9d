package import BusProtocol
package import Logging
package import SignalingProtocol

extension Logger {
    /// The logger for a line about a command: with the ids of the request for which the command was sent, as `request`
    /// and `trace`, and the command's own as `command`. It is made only where a line is written; of a command without a
    /// known request it is the same logger.
    package func about(_ context: CommandContext) -> Logger { about(context.cause, context.id) }

    /// The same, where there is no context.
    package func about(_ cause: CommandCause, _ command: CommandID) -> Logger {
        guard cause.request != nil || cause.trace != nil else { return self }
        var logger = self
        for (name, value) in [("request", cause.request), ("trace", cause.trace), ("command", command.rawValue)] {
            if let value { logger[metadataKey: name] = .string(value) }
        }
        return logger
    }
}
