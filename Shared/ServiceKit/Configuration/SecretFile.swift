#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A file that contains one secret, as container engines mount them.
package enum SecretFile {
    /// The size in bytes of the largest file that is accepted.
    static let bound = 16_384

    /// Why a file has no secret; the text continues "the setting NAME" or "the option NAME".
    package struct Problem: Error, Equatable {
        package let text: String
    }

    /// Reads the file's only line, without the line break at its end.
    /// - Throws: when the file cannot be read, is not a regular file, is larger than ``bound``, or
    ///   is not one line of UTF-8 text.
    package static func read(_ path: String) throws(Problem) -> String {
        var bytes = try contents(path)
        if bytes.last == 0x0A { bytes.removeLast() }
        if bytes.last == 0x0D { bytes.removeLast() }
        guard !bytes.isEmpty else { throw Problem(text: "names an empty file") }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { throw Problem(text: "must name a file with one line of text") }
        return text
    }

    private static func contents(_ path: String) throws(Problem) -> [UInt8] {
        // Opening a pipe would otherwise wait for somebody to write into it.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw unreadable() }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw unreadable() }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Problem(text: "must name a regular file") }
        var bytes = [UInt8](repeating: 0, count: bound + 1)
        var count = 0
        while count < bytes.count {
            let more = bytes[count...].withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, off_t(count)) }
            guard more >= 0 else { throw unreadable() }
            if more == 0 { break }
            count += more
        }
        guard count <= bound else { throw Problem(text: "names a file of more than \(bound) bytes") }
        return Array(bytes[..<count])
    }

    /// The problem that `errno` describes.
    private static func unreadable() -> Problem {
        Problem(text: "names a file that cannot be read (\(String(cString: strerror(errno))))")
    }
}
