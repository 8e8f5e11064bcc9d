import NIOCore
import Testing

@testable import RedisClient

/// Plays scripts against a ``ClusterStateMachine``: a line per event, followed by `->` and
/// the actions that it must have.
///
///     submit x 5 fenced      a command named x with slot 5; also `repeatable`, `for MS` (deadline; else 5,000 ms)
///     ok x                   x is answered
///     error x A TEXT         A answers x with an error reply
///     lost x / unsent x      the connection of x broke after or before it was written; after `down`
///     up A / down A / silent A / heard A
///     map A 0-99, B 100-16383      what the current reading finds
///     nomap                  the current reading fails; oldmap and oldnomap: the one before, which has taken too long
///     failover / aborted     a Sentinel begins a failover, or gives it up
///     switch A               a Sentinel names the master after a failover
///     at MS                  the time, with the timer called whenever it was asked for
///
/// Actions: `send x A`, `asking x A`, `hold`, `refuse CODE`, `fail x CODE`, `open A`, `drop A`, `read A`, `read seed
/// a`, `moved 0-99`. The node A has the address a:1. Random times are the shortest.
final class Conversation {
    private var machine: ClusterStateMachine
    private var now = NIODeadline.uptimeNanoseconds(0)
    private var commands: [String: ClusterCommand] = [:]
    private var readNumber: UInt64 = 0

    /// Chooses the shortest time and the first node.
    struct Lowest: RandomNumberGenerator, Sendable {
        // Not 0, which Swift discards for most ranges, to keep them even.
        mutating func next() -> UInt64 { 1 << 38 }
    }

    init(
        _ flavour: RedisFlavour = .cluster, seeds: [String] = ["s"],
        change: (inout ClusterSettings) -> Void = { _ in }
    ) {
        var settings = ClusterSettings(flavour: flavour, seeds: seeds.map(Self.address))
        settings.reading.reaction = 5...5
        change(&settings)
        machine = ClusterStateMachine(settings, random: Lowest())
    }

    var readiness: ClusterReadiness { machine.readiness }
    var pending: Int { machine.pending }
    func keepsOrder(of slots: [UInt16]) -> Bool { machine.keepsOrder(of: slots) }

    func play(_ script: String, sourceLocation: SourceLocation = #_sourceLocation) {
        for line in script.split(separator: "\n") {
            let parts = line.split(separator: "->", maxSplits: 1)
            let wanted = parts.count > 1 ? parts[1].split(separator: ";").map { words($0).joined(separator: " ") } : []
            let got = perform(words(parts[0]))
            #expect(got == wanted, "\(line)", sourceLocation: sourceLocation)
        }
    }

    private func words(_ text: Substring) -> [String] { text.split(whereSeparator: \.isWhitespace).map(String.init) }

    private func perform(_ event: [String]) -> [String] {
        switch event[0] {
        case "start": told(machine.start(now))
        case "submit": submit(event)
        case "ok": told(machine.answered(command(event[1]), now: now))
        case "error":
            told(
                machine.answered(
                    command(event[1]), by: node(event[2]),
                    RedisError(reply: event.dropFirst(3).joined(separator: " ")), now: now))
        case "lost", "unsent": told(machine.lost(command(event[1]), wasWritten: event[0] == "lost", now: now))
        case "up": told(machine.linkOpened(node(event[1]), now: now))
        case "down": told(machine.linkClosed(node(event[1]), now: now))
        case "silent": told(machine.linkSilent(node(event[1]), now: now))
        case "heard": told(machine.linkHeard(node(event[1]), now: now))
        case "map": told(machine.mapRead(readNumber, Self.map(event.dropFirst().joined(separator: " ")), now: now))
        case "oldmap":
            told(machine.mapRead(readNumber - 1, Self.map(event.dropFirst().joined(separator: " ")), now: now))
        case "oldnomap": told(machine.mapFailed(readNumber - 1, .closed, now: now))
        case "switch": told(machine.switched(to: Self.address(event[1].lowercased()), now: now))
        case "failover": told(machine.failoverBegan(now))
        case "aborted": told(machine.failoverAborted(now))
        case "nomap": told(machine.mapFailed(readNumber, .closed, now: now))
        case "at": wait(until: .uptimeNanoseconds(UInt64(event[1])! * 1_000_000))
        case "close": told(machine.close())
        default: ["unknown event \(event[0])"]
        }
    }

    private func submit(_ event: [String]) -> [String] {
        var deadline = TimeAmount.seconds(5)
        if let place = event.firstIndex(of: "for") { deadline = .milliseconds(Int64(event[place + 1])!) }
        let traits = ClusterCommand.Traits(
            slot: UInt16(event[2])!, deadline: now + deadline, isFenced: event.contains("fenced"),
            isRepeatable: event.contains("repeatable"))
        switch machine.submit(traits) {
        case .send(let command, let node):
            commands[event[1]] = command
            return ["send \(event[1]) \(name(node))"]
        case .hold(let command):
            commands[event[1]] = command
            return ["hold"]
        case .refuse(let error): return ["refuse \(error.code)"]
        }
    }

    private func wait(until end: NIODeadline) -> [String] {
        var told: [String] = []
        while let time = machine.wakeAt, time <= end {
            now = max(now, time)
            told += self.told(machine.timer(now))
            if let next = machine.wakeAt, next <= now { return told + ["the timer is due again at once"] }
        }
        now = end
        return told
    }

    private func told(_ actions: [ClusterAction]) -> [String] {
        actions.map { action in
            switch action {
            case .open(let number, let address):
                names[number] = address.host.uppercased()
                return "open \(name(number))"
            case .drop(let number): return "drop \(names.removeValue(forKey: number) ?? "?")"
            case .send(let number, let node, let asking):
                return "\(asking ? "asking" : "send") \(name(of: number)) \(name(node))"
            case .fail(let number, let error): return "fail \(name(of: number)) \(error.code)"
            case .readMap(let number, let source):
                readNumber = number
                return switch source {
                case .node(let node): "read \(name(node))"
                case .seed(let address): "read seed \(address.host)"
                }
            case .mapChanged(let changes):
                return "moved " + changes.moved.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ",")
            }
        }
    }

    private var names: [NodeNumber: String] = [:]
    private func name(_ number: NodeNumber) -> String { names[number] ?? "?" }
    private func name(of number: UInt64) -> String { commands.first { $0.value.number == number }?.key ?? "?" }
    private func command(_ name: String) -> ClusterCommand { commands[name]! }
    private func node(_ name: String) -> NodeNumber { names.first { $0.value == name }!.key }

    static func address(_ name: String) -> NodeAddress { NodeAddress(host: name, port: 1) }

    /// Reads `A 0-99, B 100-16383`.
    static func map(_ text: String) -> SlotMap {
        var map = SlotMap()
        for part in text.split(separator: ",") {
            let words = part.split(whereSeparator: \.isWhitespace)
            let bounds = words[1].split(separator: "-").map { UInt16($0)! }
            let address = address(words[0].lowercased())
            let known = map.masters.firstIndex { $0.address == address }.map { UInt16($0) }
            _ = map.assign(bounds[0]...bounds[1], to: known ?? map.add(.init(address: address, replicas: [])))
        }
        return map
    }
}

extension Conversation {
    /// A cluster of A and B, connected.
    static func connected(_ change: (inout ClusterSettings) -> Void = { _ in }) -> Conversation {
        let conversation = Conversation(change: change)
        conversation.play(
            """
            start -> read seed s
            map A 0-8191, B 8192-16383 -> open A; open B; moved 0-16383
            up A
            up B
            at 250 -> read A
            map A 0-8191, B 8192-16383
            """)
        return conversation
    }
}
