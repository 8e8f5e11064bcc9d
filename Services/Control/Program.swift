internal import Glibc

/// Another program that a command runs.
enum Program {
    /// How a program has ended.
    struct Ending {
        /// 0 for success; 128 and more when a signal ended it.
        let status: Int32
        /// What it printed on standard output and standard error.
        let text: String

        /// The last line with text, for an error.
        var lastLine: String {
            text.split(separator: "\n").last(where: { !$0.isEmpty }).map(String.init) ?? "no reason given"
        }
    }

    /// Runs a program, found on PATH, to its end.
    /// - Parameter variables: added to this process's environment, from which Heliograph's
    ///   and PostgreSQL's are left out.
    /// - Parameter inheritsSettings: whether they are not left out.
    /// - Throws: ``Failure`` when it cannot be started.
    static func run(
        _ name: String, _ arguments: [String], variables: [String: String] = [:], inheritsSettings: Bool = false
    ) throws -> Ending {
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Failure.refused("\(name): \(reason(errno))")
        }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        // Threads of the cooperative pool block signals; the program must not inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words = ([name] + arguments).map { strdup($0) } + [nil]
        var environment =
            (inherited(all: inheritsSettings) + variables.map { "\($0.key)=\($0.value)" }).map { strdup($0) } + [nil]
        defer { for pointer in words + environment { free(pointer) } }
        var process = pid_t()
        let result = posix_spawnp(&process, name, &actions, &attributes, &words, &environment)
        close(ends[1])
        guard result == 0 else {
            throw Failure.refused(result == ENOENT ? "\(name) is not on PATH" : "\(name): \(reason(result))")
        }
        let text = read(ends[0])
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return Ending(status: signal == 0 ? (status >> 8) & 0xFF : 128 + signal, text: text)
    }

    private static func inherited(all: Bool) -> [String] {
        var found: [String] = []
        var entry = environ
        while let variable = entry.pointee {
            let text = String(cString: variable)
            if all || !text.hasPrefix("HELIOGRAPH_") && !text.hasPrefix("PG") { found.append(text) }
            entry += 1
        }
        return found
    }

    private static func read(_ descriptor: Int32) -> String {
        var all: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(descriptor, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return String(decoding: all, as: UTF8.self) }
            all += bytes[..<count]
        }
    }

    private static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}
