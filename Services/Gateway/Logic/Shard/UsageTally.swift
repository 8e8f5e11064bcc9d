package import BusProtocol
package import SignalingProtocol

/// Counts what apps use at a gateway, by day, until presence has written it down (``ReportUsage``). What happens
/// between two reports counts for the day of the first one.
package struct UsageTally: Sendable {
    /// Records of former days that wait at most, while presence or PostgreSQL is away; the oldest are dropped.
    package static let bound = 10_000

    /// What an app has used.
    private struct Numbers: Equatable {
        var messages: Int64 = 0
        var deliveries: Int64 = 0
    }

    private var day: Int64
    private var ofToday: [AppID: Numbers] = [:]
    /// What presence knows of it.
    private var known: [AppID: Numbers] = [:]
    private var earlier: [AppUse] = []
    /// How many records were dropped because too many waited.
    package private(set) var dropped = 0

    /// - Parameter day: today, in days since 1970-01-01 (UTC).
    package init(day: Int64) { self.day = day }

    /// A message was sent.
    package mutating func sent(in app: AppID) { ofToday[app, default: Numbers()].messages += 1 }

    /// A channel's messages were written to members.
    package mutating func delivered(_ count: Int, in app: AppID) {
        ofToday[app, default: Numbers()].deliveries += Int64(count)
    }

    /// What presence does not know yet, ``ReportUsage/bound`` records at most, those of former days first.
    /// - Parameter today: in days since 1970-01-01 (UTC). A day before the latest one counts as that one: clocks may be
    ///   set back.
    package mutating func due(on today: Int64) -> [AppUse] {
        if today > day { turn(to: today) }
        let former = Array(earlier.prefix(ReportUsage.bound))
        return former + unknown.prefix(ReportUsage.bound - former.count)
    }

    /// Presence has written these records of ``due(on:)`` down. Meanwhile there may be more, and another day.
    package mutating func reported(_ uses: [AppUse]) {
        let written = Set(uses)
        earlier.removeAll(where: written.contains)
        for use in uses where use.day == day {
            known[use.app] = Numbers(messages: use.messages, deliveries: use.deliveries)
        }
    }

    /// The records of ``day`` that presence does not know.
    private var unknown: some Sequence<AppUse> {
        ofToday.lazy.filter { [known] in known[$0.key] != $0.value }
            .map { [day] in AppUse($0.key, day: day, messages: $0.value.messages, deliveries: $0.value.deliveries) }
    }

    private mutating func turn(to today: Int64) {
        earlier += unknown
        let excess = max(0, earlier.count - Self.bound)
        earlier.removeFirst(excess)
        dropped += excess
        (day, ofToday, known) = (today, [:], [:])
    }
}
