internal import ControlInspection
internal import Glibc
internal import RedisClient
internal import SignalingProtocol

/// The directory of a backup: `postgres.dump` (pg_dump's custom format), `mail` (a line per part of a mailbox) and
/// `manifest`, which is written last and says that the backup is whole.
struct BackupFiles {
    /// What the manifest says: a line `NAME VALUE` each.
    struct Manifest {
        static let format = "1"

        var values: [String: String]

        /// When the backup was made.
        var savedAt: String { values["created_at"] ?? "the backup" }

        /// A number of the manifest.
        /// - Throws: ``Failure`` when it is missing.
        func number(_ name: String) throws -> Int64 {
            guard let number = values[name].flatMap({ Int64($0) }) else {
                throw Failure.refused("the manifest of the backup does not say \(name)")
            }
            return number
        }
    }

    let path: String

    init(_ path: String) { self.path = path }

    var dump: String { path + "/postgres.dump" }
    private var mail: String { path + "/mail" }
    private var manifest: String { path + "/manifest" }

    /// Makes the directory, readable by its owner alone: a backup holds certificates.
    /// - Throws: ``Failure`` when it exists already.
    func make() throws {
        guard mkdir(path, 0o700) == 0 else {
            throw Failure.refused(
                errno == EEXIST ? "\(path) exists already" : "\(path): \(String(cString: strerror(errno)))")
        }
    }

    /// Writes the manifest, with the sizes of the other files.
    func write(_ values: [String: String]) throws {
        var lines = values
        lines["format"] = Manifest.format
        lines["dump_bytes"] = "\(try Self.size(of: dump))"
        lines["mail_bytes"] = "\(try Self.size(of: mail))"
        let text = lines.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
        let file = try Self.open(manifest, "w")
        defer { fclose(file) }
        guard fputs(text, file) >= 0, fflush(file) == 0 else { throw Self.failure(manifest) }
    }

    /// Reads the manifest, and compares the other files with it.
    /// - Throws: ``Failure`` when the directory holds no backup, or not all of it.
    func read() async throws -> Manifest {
        var values: [String: String] = [:]
        try await Self.lines(of: manifest) { line in
            let words = line.split(separator: " ", maxSplits: 1)
            if words.count == 2 { values[String(words[0])] = String(words[1]) }
        }
        let found = Manifest(values: values)
        guard values["format"] == Manifest.format else {
            throw Failure.refused("the backup has format \(values["format"] ?? "unknown"), not \(Manifest.format)")
        }
        for (file, name) in [(dump, "dump_bytes"), (mail, "mail_bytes")] {
            guard try Self.size(of: file) == found.number(name) else {
                throw Failure.refused("\(file) is not as long as the manifest says")
            }
        }
        return found
    }

    /// Writes the mailboxes that `body` passes on.
    func writeMail(_ body: (_ save: (SavedMail) throws(RedisError) -> Void) async throws -> Void) async throws {
        let file = try Self.open(mail, "w")
        defer { fclose(file) }
        try await body { saved throws(RedisError) in
            for part in saved.parts {
                let words = [Hex.text(Array(saved.tag.utf8)), part.suffix, "\(part.expiry)", Hex.text(part.dump)]
                fputs(words.joined(separator: " ") + "\n", file)
            }
        }
        guard fflush(file) == 0, ferror(file) == 0 else { throw Self.failure(mail) }
    }

    /// Reads the parts of mailboxes, each as a mailbox of its own.
    func readMail(_ body: (SavedMail) async throws -> Void) async throws {
        try await Self.lines(of: mail) { line in
            let words = line.split(separator: " ")
            guard words.count == 4, let tag = Self.bytes(words[0]), let expiry = Int64(words[2]),
                let value = Self.bytes(words[3])
            else { throw Failure.refused("\(mail) has a line that is no part of a mailbox") }
            let part = SavedMail.Part(suffix: String(words[1]), dump: value, expiry: expiry)
            try await body(SavedMail(tag: String(decoding: tag, as: UTF8.self), parts: [part]))
        }
    }

    private static func bytes(_ text: Substring) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private static func lines(of path: String, _ body: (Substring) async throws -> Void) async throws {
        let file = try open(path, "r")
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while true {
            let count = getline(&line, &capacity, file)
            guard count > 0, let line else { return }
            let text = String(decoding: UnsafeRawBufferPointer(start: line, count: count), as: UTF8.self)
            try await body(text.hasSuffix("\n") ? text.dropLast() : text[...])
        }
    }

    private static func open(_ path: String, _ mode: String) throws -> UnsafeMutablePointer<FILE> {
        guard let file = fopen(path, mode) else { throw failure(path) }
        return file
    }

    private static func size(of path: String) throws -> Int64 {
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw failure(path) }
        return Int64(facts.st_size)
    }

    private static func failure(_ path: String) -> Failure {
        .refused("\(path): \(String(cString: strerror(errno)))")
    }
}
