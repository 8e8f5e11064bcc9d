internal import Glibc
internal import Provisioning
internal import ServiceKit

/// Reads what `apply` is given.
enum SettingFile {
    /// Reads a file, or standard input for `-`.
    /// - Parameter bound: how many bytes are read, and one more when there are more.
    /// - Throws: ``Failure`` when it cannot be read.
    static func read(_ path: String, atMost bound: Int) throws -> [UInt8] {
        let file = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unreadable(path) }
        defer { if path != "-" { close(file) } }
        var all: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while all.count <= bound {
            let count = Glibc.read(file, &bytes, min(bytes.count, bound + 1 - all.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(path) }
            if count == 0 { break }
            all += bytes[..<count]
        }
        return all
    }

    private static func unreadable(_ path: String) -> Failure {
        .refused("\(path) cannot be read (\(String(cString: strerror(errno))))")
    }

    /// Fetches a secret.
    static func secret(_ reference: SecretReference) throws(SettingProblem) -> String {
        switch reference {
        case .variable(let name):
            guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else {
                throw SettingProblem("", "names an environment variable that is not set")
            }
            return value
        case .file(let path):
            do throws(SecretFile.Problem) {
                return try SecretFile.read(path)
            } catch {
                throw SettingProblem("", error.text)
            }
        }
    }
}
