internal import Logging

/// The process's log handler: writes each event as one line.
struct LineLogHandler: LogHandler {
    let label: String
    let format: LogFormat
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    let output: LogOutput

    init(label: String, format: LogFormat, logLevel: Logger.Level, output: LogOutput) {
        self.label = label
        self.format = format
        self.logLevel = logLevel
        self.output = output
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        if let error = event.error { all["error"] = .string("\(error)") }
        let line = LogLine(
            time: Timestamp.now, level: event.level, label: label, message: event.message.description, metadata: all)
        output.append(line.bytes(format))
        // The process may end at once.
        if event.level == .critical { output.flush() }
    }
}
