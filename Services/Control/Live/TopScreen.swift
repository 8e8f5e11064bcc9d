internal import ControlInspection
internal import PostgresStore

/// One picture of `top`, fitted into a terminal.
struct TopScreen {
    let sample: TopSample
    /// The terminal's columns and rows; nil for no bound.
    let width: Int?
    let height: Int?
    let colour: Bool

    private enum Style: String {
        case bold = "1"
        case alarm = "31"
        case inverse = "7"
    }

    private struct Line {
        var text: String
        var style: Style?
    }

    /// The lines, none longer than the width, and not more than the height.
    var lines: [String] {
        var all = head
        let table = gateways
        let room = height.map { max(0, $0 - all.count - 1) } ?? table.count
        if table.count > room, room > 0 {
            all.append(titles)
            all += table.prefix(max(0, room - 1))
            all.append(Line(text: "... and \(table.count - max(0, room - 1)) more"))
        } else if room > 0 {
            all.append(titles)
            all += table
        }
        return all.prefix(height ?? all.count).map(draw)
    }

    private func draw(_ line: Line) -> String {
        let text = line.text.visible
        let fitted = width.map { String(text.prefix($0)) } ?? text
        guard colour, let style = line.style else { return fitted }
        return "\u{1B}[\(style.rawValue)m\(fitted)\u{1B}[0m"
    }

    private var head: [Line] {
        let kinds = sample.processes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let processes = kinds.isEmpty ? "no process runs" : kinds.joined(separator: "  ")
        let head = Line(text: "heliograph  \(Output.time(milliseconds: sample.takenAt))  \(processes)", style: .bold)
        return [head] + sample.problems.map { Line(text: $0, style: .alarm) } + [users, messages, calls, backlog]
            + redis
            + postgres
    }

    private var users: Line {
        let known = sample.numbers.map {
            "  sessions \(Self.number($0.sessions))  channels \(Self.number($0.channels))  members "
                + "\(Self.number($0.members))"
        }
        return Line(text: "Users       connections \(Self.number(Int64(sample.connections)))\(known ?? "")")
    }

    private var messages: Line {
        guard let rates = sample.rates else {
            return Line(text: "Messages    unknown: name the gateways' /metrics with --metrics")
        }
        return Line(
            text:
                "Messages    \(Self.number(rates.messages))/s sent  \(Self.number(rates.deliveries))/s delivered in "
                + "channels  logins \(Self.number(rates.logins))/s")
    }

    private var calls: Line {
        Line(
            text: "Calls       "
                + (sample.numbers.map {
                    "\(Self.number($0.calls)) in progress  \(Self.number($0.newCalls)) new in a minute"
                }
                    ?? "unknown"))
    }

    private var backlog: Line {
        let backlog = sample.backlog
        return Line(
            text:
                "Backlog     commands \(Self.number(backlog.commands))  changes for PostgreSQL "
                + "\(Self.number(backlog.changes))  oldest \(backlog.age / 1000).\(backlog.age / 100 % 10) s  timers "
                + "\(Self.number(backlog.timers))",
            style: backlog.age > 10_000 ? .alarm : nil)
    }

    private var redis: [Line] {
        (sample.redis?.servers ?? []).map { server in
            let limit = server.memoryLimit.map { " of \($0 >> 20)" } ?? ""
            let isFull = server.memoryLimit.map { server.memory > $0 / 10 * 9 } ?? false
            return Line(
                text:
                    "Redis       \(server.address)  \(server.isMaster ? "master" : "replica")  "
                    + "\(server.memory >> 20)\(limit) MiB  \(Self.number(server.commandsPerSecond))/s  CPU "
                    + "\(Int((server.cpu * 100).rounded())) %  "
                    + "keys \(Self.number(server.keys))", style: isFull ? .alarm : nil)
        }
    }

    private var postgres: [Line] {
        guard let numbers = sample.numbers else { return [] }
        return [
            Line(
                text: "PostgreSQL  connections \(numbers.connections) of \(numbers.mostConnections)",
                style: numbers.connections > numbers.mostConnections / 10 * 9 ? .alarm : nil)
        ]
    }

    // MARK: - Gateways

    private var titles: Line {
        Line(text: Self.row("GATEWAY", "ADDRESS", "CONNECTIONS", "SESSIONS"), style: .inverse)
    }

    private var gateways: [Line] {
        sample.gateways.map { gateway in
            Line(
                text: Self.row(
                    gateway.id, gateway.address, Self.number(Int64(gateway.connections)),
                    gateway.sessions.map { Self.number($0) } ?? "?"))
        }
    }

    private static func row(_ id: String, _ address: String, _ connections: String, _ sessions: String) -> String {
        padded(id, 32) + "  " + padded(address, 22) + "  " + right(connections, 11) + "  " + right(sessions, 10)
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text.count >= width ? String(text.prefix(width)) : text + String(repeating: " ", count: width - text.count)
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    private static func number(_ value: Double) -> String { number(Int64(value.rounded())) }

    /// A number with a comma between thousands.
    private static func number(_ value: Int64) -> String {
        var digits = String(value.magnitude)
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits = String(digits.dropLast(3))
        }
        return (value < 0 ? "-" : "") + ([digits] + groups).joined(separator: ",")
    }
}
