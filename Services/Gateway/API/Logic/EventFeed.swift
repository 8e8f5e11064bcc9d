package import BusProtocol
internal import SignalingProtocol
internal import SignalingWire

/// What happens to an app's users and channels, as the special channels announce it.
package enum EventKind: String, CaseIterable, Sendable {
    case online
    case offline
    case join
    case leave
}

/// A position in both special channels of an app: the id that a client presents to resume.
package struct EventPosition: Equatable, Sendable {
    /// In the channel of logins.
    package var users: ChannelPosition
    /// In the channel of joins.
    package var channels: ChannelPosition

    package init(users: ChannelPosition, channels: ChannelPosition) {
        self.users = users
        self.channels = channels
    }

    /// Before all events.
    package static let start = EventPosition(
        users: ChannelPosition(sequence: 0, id: 0), channels: ChannelPosition(sequence: 0, id: 0))

    /// Reads ``text``; nil for any other text.
    package init?(_ text: String) {
        let numbers = text.split(separator: "-", omittingEmptySubsequences: false).map {
            $0.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int64($0) : nil
        }
        // Redis compares the numbers as doubles, which are exact up to 2^53.
        guard numbers.count == 4, numbers.allSatisfy({ ($0 ?? .max) < 1 << 53 }) else { return nil }
        let known = numbers.compactMap { $0 }
        self.init(
            users: ChannelPosition(sequence: known[1], id: known[0]),
            channels: ChannelPosition(sequence: known[3], id: known[2]))
    }

    package var text: String { "\(users.id)-\(users.sequence)-\(channels.id)-\(channels.sequence)" }
}

/// Since when events have been announced without a break, in microseconds of the clock of the channels' ids.
package struct AnnouncedSince: Equatable, Sendable {
    package var users: Int64
    package var channels: Int64

    package init(users: Int64, channels: Int64) {
        self.users = users
        self.channels = channels
    }
}

/// The events of an app as server-sent events: which are told, and how they are written.
package struct EventFeed: Sendable {
    /// The events that are told.
    package let kinds: Set<EventKind>
    /// What was read so far.
    package private(set) var position: EventPosition
    private var since = AnnouncedSince(users: 0, channels: 0)

    /// A stream from a position on.
    package init(kinds: Set<EventKind>, position: EventPosition) {
        self.kinds = kinds
        self.position = position
    }

    /// A stream that begins where the channels end, after announcements have begun.
    package init(kinds: Set<EventKind>, latest: EventPosition, since: AnnouncedSince) {
        var position = latest
        // An id is the clock: by this one who resumes knows since when events count.
        position.users.id = max(latest.users.id, since.users)
        position.channels.id = max(latest.channels.id, since.channels)
        self.init(kinds: kinds, position: position)
        self.since = since
    }

    /// What to send when events have been announced only since a time: a gap, where the position is earlier, because
    /// nobody announced the events between the two.
    package mutating func announced(since time: AnnouncedSince) -> String {
        defer { since = time }
        guard time != since, time.users > position.users.id || time.channels > position.channels.id else { return "" }
        return gap
    }

    private var gap: String { "event: gap\nid: \(position.text)\ndata: {}\n\n" }

    /// What to send for pages of both channels that were read at the same time, by the time of the events.
    package mutating func lines(users: ChannelLogPage, channels: ChannelLogPage) -> String {
        let isGap =
            Self.mayMiss(users, after: position.users) || Self.mayMiss(channels, after: position.channels)
        var text = isGap ? gap : ""
        var later = channels.events[...]
        for event in users.events {
            while let first = later.first, first.id < event.id { take(later.removeFirst(), \.channels, &text) }
            take(event, \.users, &text)
        }
        for event in later { take(event, \.channels, &text) }
        position = EventPosition(
            users: Self.end(of: users, after: position.users, since: since.users),
            channels: Self.end(of: channels, after: position.channels, since: since.channels))
        return text
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

    private mutating func take(
        _ event: ChannelEvent, _ channel: WritableKeyPath<EventPosition, ChannelPosition>, _ text: inout String
    ) {
        position[keyPath: channel] = ChannelPosition(sequence: event.sequence, id: event.id)
        guard case .message(let body) = event.kind, let json = try? JSONValue.parse(body.utf8),
            let kind = EventKind(rawValue: json["event"]?.string ?? ""), kinds.contains(kind)
        else { return }
        // JSON has no line breaks that are not escaped, as the services write it.
        text += "id: \(position.text)\nevent: \(kind.rawValue)\ndata: \(json.compactText)\n\n"
    }
}
