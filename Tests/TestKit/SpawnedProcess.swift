internal import Glibc

/// A child process of a test. It ends at the end of its standard input, and so even when the test process crashes. A
/// program that does not do so itself must be wrapped by ``supervised(_:directory:)``.
///
/// `@unchecked Sendable`: `pid` never changes; `input` and `status` are used by the owner, one call at a time.
final class SpawnedProcess: @unchecked Sendable {
    /// The child.
    let pid: pid_t
    private var input: Int32
    private var status: Int32?

    /// Closes the descriptors that the child inherits: a socket of another test would stay open after its
    /// owner has closed it. (NIO's are not close-on-exec, and the option of `posix_spawn` for that is a GNU
    /// extension that Swift does not see.)
    private static let closingAll = #"""
        for descriptor in /proc/self/fd/*; do
            number=${descriptor##*/}
            [ "$number" -le 2 ] || eval "exec $number>&-"
        done
        exec "$@"
        """#

    /// Starts a program.
    /// - Parameters:
    ///   - arguments: the program, found on PATH, and its arguments.
    ///   - output: the file that takes what it prints.
    /// - Throws: ``TestFailure`` with the system's reason.
    init(_ arguments: [String], output: String) throws {
        var ends: [Int32] = [0, 0]
        // Close-on-exec: a sibling that inherited our end of the pipe would keep the child alive after this process.
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw TestFailure("socketpair: \(errno)")
        }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o644)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // Threads of the cooperative pool block signals; a shell that inherits that never
        // learns that its child has ended.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var pointers = (["bash", "-c", Self.closingAll, "bash"] + arguments).map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var pid = pid_t()
        let result = posix_spawnp(&pid, "bash", &actions, &attributes, &pointers, environ)
        guard result == 0 else {
            close(ends[1])
            throw TestFailure("cannot start \(arguments[0]): \(String(cString: strerror(result)))")
        }
        self.pid = pid
        input = ends[1]
    }

    deinit { if input >= 0 { close(input) } }

    /// Wraps a program that does not read its input: it gets SIGINT when the input ends, and then `directory` is
    /// deleted unless the input said `keep`. So both go even when the test process crashes.
    static func supervised(_ arguments: [String], directory: String) -> [String] {
        let script = #"""
            directory=$1; shift
            "$@" </dev/null & child=$!
            word=$(cat); kill -INT $child 2>/dev/null
            wait $child; status=$?
            [ "$word" = keep ] || rm -rf "$directory"
            exit $status
            """#
        return ["sh", "-c", script, "sh", directory] + arguments
    }

    /// Ends the input, and with it the child.
    /// - Parameter keep: whether a supervised child's directory stays.
    func endInput(keep: Bool = false) {
        guard input >= 0 else { return }
        // Nothing was sent before, so four bytes fit. A child that has ended already needs no message.
        if keep { _ = send(input, "keep", 4, Int32(MSG_NOSIGNAL)) }
        close(input)
        input = -1
    }

    /// The exit status once the child has ended: 0...255, or 256 + signal.
    func exitStatus() -> Int32? {
        if status == nil {
            var raw: Int32 = 0
            if waitpid(pid, &raw, WNOHANG) == pid { status = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 256 + (raw & 0x7F) }
        }
        return status
    }
}

/// Why a server or process that a test needs could not be set up.
package struct TestFailure: Error, CustomStringConvertible {
    /// The reason.
    package var description: String

    /// Makes an error.
    package init(_ description: String) { self.description = description }
}
