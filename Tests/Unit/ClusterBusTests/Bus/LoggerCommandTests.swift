import BusProtocol
import ClusterBus
import Logging
import SignalingProtocol
import Testing

/// What log lines say about the command that is being handled.
@Suite struct LoggerCommandTests {
    /// Keeps metadata, which `SwiftLogNoOpLogHandler` does not.
    private struct Handler: LogHandler {
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {}
    }

    private static let logger: Logger = {
        var logger = Logger(label: "l") { _ in Handler() }
        logger[metadataKey: "service"] = "presence"
        return logger
    }()

    private static func words(_ logger: Logger) -> [String?] {
        ["service", "request", "trace", "command", "key"].map { logger[metadataKey: $0]?.description }
    }

    @Test func linesOfACommandHaveItsRequest() {
        let context = CommandContext(
            id: CommandID("c-1"), cause: CommandCause(key: "k", request: "r=1", trace: "t"))
        #expect(Self.words(Self.logger.about(context)) == ["presence", "r=1", "t", "c-1", nil])
        // A step is for the same request.
        #expect(Self.words(Self.logger.about(context.step("undo"))) == ["presence", "r=1", "t", "c-1.undo", nil])
        #expect(Self.words(Self.logger) == ["presence", nil, nil, nil, nil])
    }

    @Test(
        arguments: [
            (CommandCause(), [nil, nil, nil]), (CommandCause(key: "k"), [nil, nil, nil]),
            (CommandCause(request: "r"), ["r", nil, "c-1"]), (CommandCause(trace: "t"), [nil, "t", "c-1"]),
        ] as [(CommandCause, [String?])])
    func whatIsNotKnownIsLeftOut(_ cause: CommandCause, _ expected: [String?]) {
        let logger = Self.logger.about(CommandContext(id: CommandID("c-1"), cause: cause))
        #expect(Array(Self.words(logger)[1...3]) == expected)
    }
}
