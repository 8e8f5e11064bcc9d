internal import Glibc

/// A file for another program, in TMPDIR, which only this user can read.
struct TemporaryFile {
    let path: String

    /// Writes the file.
    /// - Throws: ``Failure`` when it cannot be written.
    init(_ text: String) throws {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(folder)/heliographctl-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard descriptor >= 0, let file = fdopen(descriptor, "w") else {
            throw Failure.refused("\(path): \(String(cString: strerror(errno)))")
        }
        let isWritten = fputs(text, file) >= 0
        guard fclose(file) == 0, isWritten else {
            unlink(path)
            throw Failure.refused("\(path): \(String(cString: strerror(errno)))")
        }
    }

    func remove() { unlink(path) }
}
