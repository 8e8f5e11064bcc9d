package import SignalingProtocol

/// Asks a running process to end as at SIGTERM: it finishes what it has begun, and leaves unnoticed by users. Fails
/// with `unknown_process`.
package struct DrainProcess: ServiceCommand {
    /// Bytes of a process's id.
    package static let idBytes = 1...200

    package static let service = ServiceName.presence
    package static let operation = "process.drain"
    package static let level: Int64 = 2
    package typealias Reply = Done
    /// The process's name and a random part.
    package var process: String

    package var subject: Subject { .tagged(process) }

    package init(_ process: String) { self.process = process }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(try fields.field("process", \.process))
    }
}
