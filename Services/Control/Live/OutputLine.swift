internal import Glibc

/// Writes lines at once, whether a terminal or a pipe reads them.
enum OutputLine {
    /// A reader that goes away ends the command in an orderly way, not by a signal.
    static func survivesClosedPipes() { signal(SIGPIPE, SIG_IGN) }

    /// Writes to standard output.
    /// - Returns: whether it could be written.
    static func write(_ line: String) -> Bool { write(line, to: STDOUT_FILENO) }

    /// Says something on standard error.
    static func note(_ text: String) { _ = write("heliographctl: \(text)", to: STDERR_FILENO) }

    private static func write(_ line: String, to descriptor: Int32) -> Bool {
        var bytes = Array("\(line)\n".utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }
}
