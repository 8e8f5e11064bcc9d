internal import NIOPosix
internal import ServiceMetrics
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Writes log lines, each as a whole, in their order, on a thread of its own: whoever reads them may be slow, and
/// event loops must not wait for that.
final class LogOutput: Sendable {
    /// The bytes of lines that may wait; later lines are dropped until there is room.
    static let standardBound = 4 << 20

    private static let dropped = Counter(
        "heliograph_log_lines_dropped_total", "Log lines dropped because too many waited to be written.")

    /// The process's standard output. What waits is written when the process exits.
    static let standardOutput: LogOutput = {
        let thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
        let output = LogOutput(writeToStandardOutput, on: { work in thread.submit { _ in work() } })
        atexit { LogOutput.standardOutput.flush() }
        return output
    }()

    private struct Queue {
        var lines: [[UInt8]] = []
        var bytes = 0
        /// Whether ``drain()`` was scheduled and has not found the queue empty yet.
        var isBeingWritten = false
    }

    private let bound: Int
    private let queue = Mutex(Queue())
    /// Held while lines are written, so that they stay in order.
    private let writing = Mutex(())
    private let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let emit: @Sendable ([UInt8]) -> Void

    /// - Parameters:
    ///   - bound: the bytes that may wait.
    ///   - emit: writes a line.
    ///   - schedule: runs a closure that may block, by default at once.
    init(
        bound: Int = standardBound, _ emit: @escaping @Sendable ([UInt8]) -> Void,
        on schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() }
    ) {
        // Declares it.
        _ = Self.dropped
        self.bound = bound
        self.schedule = schedule
        self.emit = emit
    }

    /// Queues a line; drops it when too many bytes wait.
    func append(_ line: [UInt8]) {
        let (isDropped, begins) = queue.withLock { queue in
            guard queue.bytes + line.count <= bound else { return (true, false) }
            queue.lines.append(line)
            queue.bytes += line.count
            defer { queue.isBeingWritten = true }
            return (false, !queue.isBeingWritten)
        }
        if isDropped { Self.dropped.increment() }
        if begins { schedule { [self] in drain() } }
    }

    /// Returns when all lines that were appended before are written.
    func flush() { drain() }

    private func drain() {
        writing.withLock { _ in
            while let lines = take() {
                for line in lines {
                    emit(line)
                    queue.withLock { $0.bytes -= line.count }
                }
            }
        }
    }

    private func take() -> [[UInt8]]? {
        queue.withLock { queue in
            guard !queue.lines.isEmpty else {
                queue.isBeingWritten = false
                return nil
            }
            defer { queue.lines = [] }
            return queue.lines
        }
    }

    private static func writeToStandardOutput(_ line: [UInt8]) {
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
}
