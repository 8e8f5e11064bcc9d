package import Logging

/// Sets up the process's logging, once.
package enum LogBootstrap {
    /// Directs all loggers to standard output and creates the process's logger.
    /// - Returns: a logger with the service and the instance as metadata.
    package static func start(_ configuration: ServiceConfiguration) -> Logger {
        let (format, level) = (configuration.logFormat, configuration.logLevel)
        LoggingSystem.bootstrap { label in
            LineLogHandler(label: label, format: format, logLevel: level, output: .standardOutput)
        }
        var logger = Logger(label: "heliograph.\(configuration.service)")
        logger[metadataKey: "service"] = .string(configuration.service)
        logger[metadataKey: "instance"] = .string(configuration.instance)
        return logger
    }

    /// Returns when everything that was logged is written; needed only before an end without exit handlers.
    static func flush() { LogOutput.standardOutput.flush() }
}
