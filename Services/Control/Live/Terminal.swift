internal import Glibc

/// The terminal on standard output.
enum Terminal {
    /// The columns and rows: 80 and 24 where it does not tell.
    static var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Whether it is to show colours (https://no-color.org).
    static var hasColours: Bool { value(of: "NO_COLOR").isEmpty && !["", "dumb"].contains(value(of: "TERM")) }

    /// Whether it can go back to the top and erase.
    private static var canMove: Bool { !["", "dumb"].contains(value(of: "TERM")) }

    private static func value(of variable: String) -> String { getenv(variable).map { String(cString: $0) } ?? "" }

    /// Takes another page of the terminal, so that what was there before comes back at the end.
    static func begin() { if canMove { _ = write("\u{1B}[?1049h\u{1B}[?25l") } }

    static func end() { if canMove { _ = write("\u{1B}[?25h\u{1B}[?1049l") } }

    /// Puts lines in place of those before. The last one ends without a line break: the terminal would scroll.
    /// - Returns: whether they could be written.
    static func show(_ lines: [String]) -> Bool {
        guard canMove else { return write(lines.joined(separator: "\n") + "\n\n") }
        return write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
    }

    private static func write(_ text: String) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }
}
