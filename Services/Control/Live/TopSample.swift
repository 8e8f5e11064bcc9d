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
            JSONMember("time", number: takenAt),
            JSONMember(
                "processes",
                .object(processes.sorted { $0.key < $1.key }.map { JSONMember($0.key, number: $0.value) })),
            JSONMember("connections", number: connections),
            JSONMember("gateways", .array(gateways.map(Self.json))),
            JSONMember("rates", rates.map(Self.json) ?? .null),
            JSONMember(
                "backlog",
                .object([
                    JSONMember("changes", number: backlog.changes), JSONMember("commands", number: backlog.commands),
                    JSONMember("oldestMilliseconds", number: backlog.age), JSONMember("timers", number: backlog.timers),
                ])),
            JSONMember("redis", .array((redis?.servers ?? []).map(Self.json))),
            JSONMember("postgres", numbers.map(Self.json) ?? .null),
            JSONMember("problems", .array(problems.map { .string($0) })),
        ]
    }

    var lines: [String] { TopScreen(sample: self, width: nil, height: nil, colour: false).lines }

    private static func json(_ gateway: TopGateway) -> JSONValue {
        .object([
            JSONMember("address", .string(gateway.address)), JSONMember("connections", number: gateway.connections),
            JSONMember("id", .string(gateway.id)),
            JSONMember("sessions", gateway.sessions.map { .number("\($0)") } ?? .null),
        ])
    }

    private static func json(_ rates: TopRates) -> JSONValue {
        .object([
            JSONMember("deliveriesPerSecond", number: Int(rates.deliveries.rounded())),
            JSONMember("loginsPerSecond", number: Int(rates.logins.rounded())),
            JSONMember("messagesPerSecond", number: Int(rates.messages.rounded())),
            JSONMember("processes", number: rates.processes),
        ])
    }

    private static func json(_ server: ServerState) -> JSONValue {
        .object([
            JSONMember("address", .string(server.address.description)),
            JSONMember("commandsPerSecond", number: Int(server.commandsPerSecond.rounded())),
            JSONMember("cpuPercent", number: Int((server.cpu * 100).rounded())),
            JSONMember("keys", number: server.keys), JSONMember("memory", number: server.memory),
            JSONMember("memoryLimit", server.memoryLimit.map { .number("\($0)") } ?? .null),
            JSONMember("role", .string(server.isMaster ? "master" : "replica")),
        ])
    }

    private static func json(_ numbers: ClusterNumbers) -> JSONValue {
        .object([
            JSONMember("calls", number: numbers.calls), JSONMember("channels", number: numbers.channels),
            JSONMember("connections", number: numbers.connections), JSONMember("members", number: numbers.members),
            JSONMember("mostConnections", number: numbers.mostConnections),
            JSONMember("newCallsPerMinute", number: numbers.newCalls),
            JSONMember("sessions", number: numbers.sessions),
        ])
    }
}
