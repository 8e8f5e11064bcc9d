internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Writes log lines, one at a time, each as a whole.
final class LogOutput: Sendable {
    /// The process's standard output, unbuffered.
    static let standardOutput = LogOutput { line in
        line.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = write(STDOUT_FILENO, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                // A failure to write the log cannot be reported anywhere, so the service continues.
                if written < 0 && errno != EINTR { return }
                rest = rest.dropFirst(max(written, 0))
            }
        }
    }

    private let guarded = Mutex(())
    private let emit: @Sendable ([UInt8]) -> Void

    init(_ emit: @escaping @Sendable ([UInt8]) -> Void) { self.emit = emit }

    func append(_ line: [UInt8]) { guarded.withLock { _ in emit(line) } }
}
