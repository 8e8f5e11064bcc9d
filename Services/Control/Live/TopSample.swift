internal import ControlInspection
internal import PostgresStore
internal import RedisClient
internal import SignalingProtocol
internal import SignalingWire

/// A gateway as `top` shows it: one of its event loops.
struct TopGateway: Sendable {
    let id: String
    let address: String
    let connections: Int
    /// The sessions that PostgreSQL's copy has for it; nil when that could not be read.
    var sessions: Int64?
}

/// What happens in a second, as processes count it.
struct TopRates: Sendable {
    var messages: Double
    var deliveries: Double
    var logins: Double
    /// How many processes told.
    var processes: Int
}

/// The cluster at one moment, for `top`.
struct TopSample: Sendable {
    var takenAt: Int64
    /// The running processes by kind.
    var processes: [String: Int] = [:]
    var gateways: [TopGateway] = []
    /// Nil when nothing was asked, or nobody answered.
    var rates: TopRates?
    var redis: RedisInspection?
    var numbers: ClusterNumbers?
    /// What could not be read.
    var problems: [String] = []

    var connections: Int { gateways.reduce(0) { $0 + $1.connections } }

    /// Commands and changes that wait, timers, and the age of the oldest that waits, in milliseconds.
    var backlog: (commands: Int64, changes: Int64, timers: Int64, age: Int64) {
        var sums: (commands: Int64, changes: Int64, timers: Int64, age: Int64) = (0, 0, 0, 0)
        for entries in redis?.partitions.compactMap(\.entries) ?? [] {
            sums.commands += entries.waiting
            sums.changes += entries.mirrored
            sums.timers += entries.timers
            sums.age = max(sums.age, entries.ages.values.max() ?? 0)
        }
        return sums
    }
}

extension TopSample: Printable {
    var members: [JSONMember] {
        let backlog = backlog
        return [
            JSONMember("time", takenAt),
            JSONMember(
                "processes",
                .object(processes.sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value) })),
            JSONMember("connections", connections),
            JSONMember("gateways", .array(gateways.map(Self.json))),
            JSONMember("rates", rates.map(Self.json) ?? .null),
            JSONMember(
                "backlog",
                .object([
                    JSONMember("changes", backlog.changes), JSONMember("commands", backlog.commands),
                    JSONMember("oldestMilliseconds", backlog.age), JSONMember("timers", backlog.timers),
                ])),
            JSONMember("redis", .array((redis?.servers ?? []).map(Self.json))),
            JSONMember("postgres", numbers.map(Self.json) ?? .null),
            JSONMember("problems", .array(problems.map { .string($0) })),
        ]
    }

    var lines: [String] { TopScreen(sample: self, width: nil, height: nil, colour: false).lines }

    private static func json(_ gateway: TopGateway) -> JSONValue {
        .object([
            JSONMember("address", gateway.address), JSONMember("connections", gateway.connections),
            JSONMember("id", gateway.id),
            JSONMember("sessions", gateway.sessions),
        ])
    }

    private static func json(_ rates: TopRates) -> JSONValue {
        .object([
            JSONMember("deliveriesPerSecond", Int(rates.deliveries.rounded())),
            JSONMember("loginsPerSecond", Int(rates.logins.rounded())),
            JSONMember("messagesPerSecond", Int(rates.messages.rounded())),
            JSONMember("processes", rates.processes),
        ])
    }

    private static func json(_ server: ServerState) -> JSONValue {
        .object([
            JSONMember("address", server.address.description),
            JSONMember("commandsPerSecond", Int(server.commandsPerSecond.rounded())),
            JSONMember("cpuPercent", Int((server.cpu * 100).rounded())),
            JSONMember("keys", server.keys), JSONMember("memory", server.memory),
            JSONMember("memoryLimit", server.memoryLimit),
            JSONMember("role", server.isMaster ? "master" : "replica"),
        ])
    }

    private static func json(_ numbers: ClusterNumbers) -> JSONValue {
        .object([
            JSONMember("calls", numbers.calls), JSONMember("channels", numbers.channels),
            JSONMember("connections", numbers.connections), JSONMember("members", numbers.members),
            JSONMember("mostConnections", numbers.mostConnections),
            JSONMember("newCallsPerMinute", numbers.newCalls),
            JSONMember("sessions", numbers.sessions),
        ])
    }
}
