// Devices at pipes with names (FIFO) of raw samples: 16 bits, 48 kHz, mono. As with a sound card, the other end sets
// the pace: samples are said when they are written, and played when they are read.
import AgoraRtcEngineKit
import MediaClient

/// A microphone: another program writes what it hears.
final class PipeCapture: AudioCapture {
    private let end: PipeEnd

    init(path: String) { end = PipeEnd(path: path, isWritten: false) }

    func reportFailures(to report: @escaping @Sendable (String) -> Void) { end.reportFailures(to: report) }

    func start(_ deliver: @escaping @Sendable (UnsafeBufferPointer<Int16>) -> Void) throws {
        try end.start { descriptor in
            var samples = [Int16](repeating: 0, count: PipeEnd.samples)
            let size = read(descriptor, &samples, 2 * samples.count)
            samples[..<(max(size, 0) / 2)].withUnsafeBufferPointer(deliver)
            return size
        }
    }

    func stop() { end.stop() }
}

/// A loudspeaker: another program reads what it plays.
final class PipePlayback: AudioPlayback {
    private let end: PipeEnd

    init(path: String) { end = PipeEnd(path: path, isWritten: true) }

    func reportFailures(to report: @escaping @Sendable (String) -> Void) { end.reportFailures(to: report) }

    func start(_ request: @escaping @Sendable (UnsafeMutableBufferPointer<Int16>) -> Void) throws {
        // A write after the reader has gone is to fail, not to end the program.
        signal(SIGPIPE, SIG_IGN)
        try end.start { descriptor in
            var samples = [Int16](repeating: 0, count: PipeEnd.samples)
            samples.withUnsafeMutableBufferPointer { request($0) }
            return write(descriptor, samples, 2 * samples.count)
        }
    }

    func stop() { end.stop() }
}

/// This end of a pipe, and the thread that waits for the other end.
///
/// `@unchecked Sendable`: the lock guards all that changes. It is held while samples pass, so that none do after
/// `stop`.
final class PipeEnd: @unchecked Sendable {
    /// As many as pass at once: 10 ms.
    static let samples = 480

    private let path: String
    private let isWritten: Bool
    private let lock = NSRecursiveLock()
    /// Counts starts and stops: a thread ends when it is not of the latest one.
    private var turn = 0
    private var report: (@Sendable (String) -> Void)?

    init(path: String, isWritten: Bool) {
        self.path = path
        self.isWritten = isWritten
    }

    func reportFailures(to report: @escaping @Sendable (String) -> Void) { lock.withLock { self.report = report } }

    /// Opens the pipe, and lets samples pass whenever the other end is ready.
    /// - Parameter pass: what `read` or `write` has returned.
    func start(_ pass: @escaping @Sendable (_ descriptor: Int32) -> Int) throws {
        let descriptor = open(path, (isWritten ? O_WRONLY : O_RDONLY) | O_NONBLOCK | O_CLOEXEC)
        // A pipe that nobody reads cannot be opened to write.
        guard descriptor >= 0 else {
            throw DeviceFailure(errno == ENXIO ? .start : .preparation, "\(path): \(String(cString: strerror(errno)))")
        }
        // One that nobody writes can be opened to read, and is at its end.
        guard isWritten || pass(descriptor) != 0 else {
            close(descriptor)
            throw DeviceFailure(.start, "\(path): nobody writes into it")
        }
        #if os(Linux)
            // As little as a sound card keeps ready: by default a pipe holds 0.7 s. The number is F_SETPIPE_SZ.
            if isWritten { _ = fcntl(descriptor, 1031, 8192) }
        #endif
        let turn = next()
        Thread.detachNewThread { [self] in
            while goesOn(turn, descriptor, pass) {}
            close(descriptor)
        }
    }

    func stop() { _ = next() }

    private func next() -> Int {
        lock.withLock {
            turn += 1
            return turn
        }
    }

    private func goesOn(_ turn: Int, _ descriptor: Int32, _ pass: (Int32) -> Int) -> Bool {
        var other = pollfd(fd: descriptor, events: Int16(isWritten ? POLLOUT : POLLIN), revents: 0)
        let isReady = poll(&other, 1, 100) > 0
        return lock.withLock {
            guard turn == self.turn else { return false }
            guard isReady else { return true }
            let size = pass(descriptor)
            if size > 0 || size < 0 && (errno == EAGAIN || errno == EINTR) { return true }
            report?("\(path): the other end was closed")
            return false
        }
    }
}
