internal import ClusterState
internal import DequeModule

/// What a connection exchanges with the server before it can be used; no I/O.
///
/// Its stages, each a write whose replies are awaited before the next:
/// 1. credentials, database, PING; INFO if the server is to be checked;
/// 2. which of the connection's libraries of functions the server has, and its time;
/// 3. those libraries that it lacks. So Lua is sent to a server only once, not by each connection.
///
/// Functions are not left to be loaded at the first call that misses one: behind the refused call, others of the same
/// connection would be carried out before it.
struct LinkHandshake {
    /// What a reply tells.
    enum Finding: Equatable {
        /// Nothing that anyone must know.
        case nothing
        /// The server cannot be used, at least not now.
        case refused(RedisError)
        /// The reply to INFO: the server is to be judged by it before ``next()`` is called.
        case identity(RedisValue)
        /// The reply to TIME.
        case time(RedisValue)
    }

    /// What to do next.
    enum Next {
        /// Replies are missing.
        case wait
        /// Write these commands.
        case send([RedisCommand])
        /// The connection can be used.
        case done
    }

    /// What a reply is the answer to.
    private enum Question {
        case greeting, identity, role, time
        /// Whether the server has the library with this index.
        case library(Int)
        case load
    }

    private typealias Step = (question: Question, command: RedisCommand)

    /// The stages that have not been sent.
    private var stages: Deque<[Step]> = []
    /// What replies are missing to, in order.
    private var asked: Deque<Question> = []
    private let libraries: [RedisFunctionLibrary]
    /// The libraries to be loaded, by index.
    private var missing: [Int] = []

    /// A handshake without commands, for a socket that is not open yet.
    init() { libraries = [] }

    /// - Parameters:
    ///   - configuration: credentials and database.
    ///   - libraries: those that the server must have.
    ///   - asksTime: whether to ask for the server's time.
    ///   - isChecked: whether the server is judged by its INFO before anything is written to it.
    init(_ configuration: RedisConfiguration, libraries: [RedisFunctionLibrary], asksTime: Bool, isChecked: Bool) {
        self.libraries = libraries
        // One without a version replaces what the server has of that name.
        missing = libraries.indices.filter { libraries[$0].suffix.isEmpty }
        var first: [Step] = configuration.greeting.map { (.greeting, $0) }
        if isChecked { first.append((.identity, ServerIdentity.command)) }
        var second: [Step] = libraries.isEmpty ? [] : [(.role, RedisCommand("ROLE"))]
        for (index, library) in libraries.enumerated() where !library.suffix.isEmpty {
            second.append((.library(index), library.listing))
        }
        if asksTime { second.append((.time, RedisCommand("TIME"))) }
        // In one write where nothing has to be checked in between.
        if isChecked { stages = [first, second] } else { stages = [first + second] }
    }

    /// To be called at the start, and after each reply that was not refused.
    mutating func next() -> Next {
        guard asked.isEmpty else { return .wait }
        while let stage = stages.popFirst() {
            guard !stage.isEmpty else { continue }
            asked = Deque(stage.map(\.question))
            return .send(stage.map(\.command))
        }
        guard !missing.isEmpty else { return .done }
        let loads = missing.map { libraries[$0].load }
        missing = []
        asked = Deque(repeating: .load, count: loads.count)
        return .send(loads)
    }

    /// Reads the next reply.
    mutating func received(_ reply: RedisValue) -> Finding {
        guard let question = asked.popFirst() else { return .refused(.shape("a handshake")) }
        // Another connection may load a library between the question and our loading.
        if case .error(let error) = reply, !error.isLibraryThere { return .refused(error) }
        switch question {
        case .greeting, .load: return .nothing
        case .identity: return .identity(reply)
        case .role: return reply.array?.first?.string == "master" ? .nothing : .refused(.replica)
        case .library(let index):
            if reply.array?.isEmpty != false { missing.append(index) }
            return .nothing
        case .time: return .time(reply)
        }
    }
}

extension RedisConfiguration {
    /// What makes a socket usable: credentials, database, and that the server is ready.
    fileprivate var greeting: [RedisCommand] {
        var commands: [RedisCommand] = []
        if let password {
            var authentication = RedisCommand("AUTH")
            if let user { authentication.append(.string(user)) }
            authentication.append(.string(password))
            commands.append(authentication)
        }
        if database != 0 { commands.append(RedisCommand("SELECT", .int(database))) }
        // A restarted server refuses PING while it still loads its data, so the link comes up only after that.
        commands.append(RedisCommand("PING"))
        return commands
    }
}

extension RedisFunctionLibrary {
    /// The command that asks for the library, answered by an empty array where the server does not have it.
    fileprivate var listing: RedisCommand { RedisCommand("FUNCTION", "LIST", "LIBRARYNAME", .string(name)) }
}

extension RedisError {
    /// A connection that calls functions is of no use at a replica.
    fileprivate static let replica = RedisError(code: .readOnly, message: "the server is a replica")
}
