package import BusProtocol
internal import SignalingProtocol
internal import SignalingWire

/// What happens in an app, as its streams of events tell it.
package enum EventKind: String, CaseIterable, Sendable {
    case online
    case offline
    case join
    case leave
    case channelCreated = "channel_created"
    case channelDestroyed = "channel_destroyed"
    case call
    case message

    /// The kinds of a stream that names none: what the special channels announce.
    package static let standard: Set<EventKind> = [.online, .offline, .join, .leave]

    /// The logs that have the events of some kinds. Those of the special channels are read together.
    package static func logs(of kinds: Set<EventKind>) -> Set<EventLog> {
        kinds.reduce(into: []) { logs, kind in
            switch kind {
            case .online, .offline, .join, .leave: logs.formUnion(EventLog.announcements)
            case .channelCreated, .channelDestroyed: logs.insert(.channels)
            case .call: logs.insert(.calls)
            case .message: logs.insert(.messages)
            }
        }
    }
}

/// The logs in which an app's events are, in the order of their places in a position.
package enum EventLog: CaseIterable, Sendable {
    /// The special channel of logins.
    case users
    /// The special channel of joins.
    case members
    /// Channels that begin and end.
    case channels
    /// Calls.
    case calls
    /// Messages.
    case messages

    /// The special channels, whose places every position has.
    package static let announcements: [EventLog] = [.users, .members]
}

/// Since when events have been announced without a break, in microseconds of the clock of the logs' ids.
package typealias AnnouncedSince = [EventLog: Int64]

/// A position in the logs of an app: the id that a client presents to resume.
package struct EventPosition: Equatable, Sendable {
    private var places: [EventLog: ChannelPosition]

    package init(places: [EventLog: ChannelPosition]) { self.places = places }

    /// The place in a log; nil when the position knows nothing of it.
    package subscript(log log: EventLog) -> ChannelPosition? {
        get { places[log] }
        set { places[log] = newValue }
    }

    /// Reads ``text``; nil for any other text. One of four numbers is about the special channels alone.
    package init?(_ text: String) {
        let numbers = text.split(separator: "-", omittingEmptySubsequences: false).map {
            $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int64($0) : nil
        }
        // Redis compares the numbers as doubles, which are exact up to 2^53.
        guard numbers.allSatisfy({ ($0 ?? .max) < 1 << 53 }) else { return nil }
        let logs: [EventLog]
        switch numbers.count {
        case 2 * EventLog.announcements.count: logs = EventLog.announcements
        case 2 * EventLog.allCases.count: logs = EventLog.allCases
        default: return nil
        }
        let known = numbers.compactMap { $0 }
        places = [:]
        for (index, log) in logs.enumerated() {
            let place = ChannelPosition(sequence: known[2 * index + 1], id: known[2 * index])
            if logs.count == EventLog.announcements.count || place != Self.unknown { places[log] = place }
        }
    }

    /// Has four numbers when it is about the special channels alone, else two for each log.
    package var text: String {
        let isOfAnnouncements = places.keys.allSatisfy { EventLog.announcements.contains($0) }
        let logs = isOfAnnouncements ? EventLog.announcements : EventLog.allCases
        return logs.map { log in
            let place = places[log] ?? Self.unknown
            return "\(place.id)-\(place.sequence)"
        }.joined(separator: "-")
    }

    /// Written for a log of which nothing is known. The place of one that is followed has a time as its id.
    private static let unknown = ChannelPosition(sequence: 0, id: 0)
}

/// The events of an app as server-sent events: which are told, and how they are written.
package struct EventFeed: Sendable {
    /// The events that are told.
    package let kinds: Set<EventKind>
    /// What was read so far.
    package private(set) var position: EventPosition
    /// The logs that are read.
    package let logs: [EventLog]
    /// What to send first: a gap, when the stream resumes at a position that does not reach it.
    package let opening: String
    private var since: AnnouncedSince

    /// A stream, after announcements have begun.
    /// - Parameters:
    ///   - position: where it resumes; nil to begin where the logs end.
    ///   - latest: where the logs end of which the position knows nothing.
    ///   - since: since when the logs have been written.
    package init(
        kinds: Set<EventKind>, after position: EventPosition?, latest: [EventLog: ChannelPosition],
        since: AnnouncedSince
    ) {
        self.kinds = kinds
        self.since = since
        let wanted = EventKind.logs(of: kinds)
        logs = EventLog.allCases.filter(wanted.contains)
        var places: [EventLog: ChannelPosition] = [:]
        var misses = false
        for log in logs {
            let start = since[log] ?? 0
            if let place = position?[log: log] {
                places[log] = place
                misses = misses || start > place.id
            } else {
                let end = latest[log] ?? ChannelPosition(sequence: 0, id: 0)
                // An id is the clock: by this one who resumes knows since when events count.
                places[log] = ChannelPosition(sequence: end.sequence, id: max(end.id, start))
                misses = misses || position != nil
            }
        }
        self.position = EventPosition(places: places)
        opening = misses ? Self.gap(at: self.position) : ""
    }

    /// What to send when events have been announced only since a time: a gap, where the position is earlier, because
    /// nobody announced the events between the two.
    package mutating func announced(since time: AnnouncedSince) -> String {
        defer { since = time }
        guard time != since, logs.contains(where: { time[$0] ?? 0 > place(in: $0).id }) else { return "" }
        return Self.gap(at: position)
    }

    private static func gap(at position: EventPosition) -> String {
        "event: gap\nid: \(position.text)\ndata: {}\n\n"
    }

    /// The place in a log that is read.
    package func place(in log: EventLog) -> ChannelPosition {
        position[log: log] ?? ChannelPosition(sequence: 0, id: 0)
    }

    /// What to send for pages of the logs that were read at the same time, by the time of the events.
    package mutating func lines(_ pages: [EventLog: ChannelLogPage]) -> String {
        let read = logs.compactMap { log in pages[log].map { (log: log, page: $0) } }
        var text = read.contains { Self.mayMiss($0.page, after: place(in: $0.log)) } ? Self.gap(at: position) : ""
        var rest = read.map { (log: $0.log, events: $0.page.events[...]) }
        while let next = Self.earliest(rest) { take(rest[next].events.removeFirst(), rest[next].log, &text) }
        for (log, page) in read {
            position[log: log] = Self.end(of: page, after: place(in: log), since: since[log] ?? 0)
        }
        return text
    }

    /// The index of the log whose first event is the earliest; nil when there are no events.
    private static func earliest(_ rest: [(log: EventLog, events: ArraySlice<ChannelEvent>)]) -> Int? {
        let first = rest.indices.compactMap { index in rest[index].events.first.map { (id: $0.id, index: index) } }
        return first.min { $0.id < $1.id }?.index
    }

    /// Whether events may be missing between a position and the page that was read from it.
    private static func mayMiss(_ page: ChannelLogPage, after position: ChannelPosition) -> Bool {
        // There was no channel, and there is none.
        if page.latest.sequence == 0, position.sequence == 0 { return false }
        guard page.complete else { return true }
        guard let first = page.events.first, first.sequence != position.sequence + 1 else { return false }
        // A log that has expired and begun anew looks whole. A new channel's numbers start at the clock, as ids do.
        return position.sequence == 0
            ? first.sequence != first.id / 1000 + 1 : first.id - position.id > leastLogLife
    }

    /// A log never expires before its last event is this old, in microseconds.
    private static let leastLogLife: Int64 = 1800 * 1_000_000

    /// The position after a page. After the last page it is not earlier than the time since which events are announced,
    /// because everything since then has been read. A log that has expired has no events left: its position is then the
    /// latest one of its channel, so that the gap is told only once.
    private static func end(of page: ChannelLogPage, after position: ChannelPosition, since: Int64) -> ChannelPosition {
        if page.more { return page.through }
        let last = page.complete || !page.events.isEmpty ? page.through : page.latest
        return ChannelPosition(sequence: last.sequence, id: max(last.id, position.id, since))
    }

    /// A line that keeps the connection alive, and tells the client where to resume though there was no event for it.
    package var heartbeat: String { ": \nid: \(position.text)\n\n" }

    private mutating func take(_ event: ChannelEvent, _ log: EventLog, _ text: inout String) {
        position[log: log] = ChannelPosition(sequence: event.sequence, id: event.id)
        guard case .message(let body) = event.kind, let json = try? JSONValue.parse(body.utf8),
            let kind = EventKind(rawValue: json["event"]?.string ?? ""), kinds.contains(kind)
        else { return }
        // JSON has no line breaks that are not escaped, as the services write it.
        text += "id: \(position.text)\nevent: \(kind.rawValue)\ndata: \(json.compactText)\n\n"
    }
}
