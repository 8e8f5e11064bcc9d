package import Logging

/// Sets up the process's logging, once.
package enum LogBootstrap {
    /// Sends all loggers' lines to standard output and makes the process's own logger.
    /// - Returns: a logger that carries the service and the instance.
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
}
