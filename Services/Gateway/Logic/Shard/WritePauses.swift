package import Pacing
package import SignalingProtocol

/// Decides when a channel's events are written to its members: at once while that costs little, otherwise after a
/// pause.
///
/// To write one event to a thousand members costs about as much as to write ten events to them. So a channel whose
/// writes take much of the event loop's time pauses after each one, and what is published meanwhile is written
/// together. Joins and leaves may wait for longer than messages.
package struct WritePauses: Sendable {
    /// The events that wait to be written.
    package struct Waiting: Sendable {
        /// Whether one of them is something else than a join or a leave.
        package private(set) var hasMessages = false
        fileprivate private(set) var count = 0
        fileprivate private(set) var bytes = 0

        /// Nothing waits.
        package init() {}

        /// These wait, too.
        package mutating func add(_ events: [ChannelEvent]) {
            count += events.count
            for event in events where !event.isMove {
                hasMessages = true
                bytes += event.textBytes
            }
        }
    }

    /// The most events that wait.
    package static let bound = 1024
    /// The most bytes of text that wait; so much fits into a client's socket, and into its send buffer anyway.
    package static let byteBound = 65_536
    /// The pause after a write, as a multiple of the write's duration, while only joins and leaves wait: 4 leaves such
    /// writes at most a fifth of the loop's time.
    static let movesFactor: Int64 = 4
    /// The longest pause while only joins and leaves wait.
    static let longestMovesRest = LocalTime.Span(.milliseconds(250))
    /// The pause after a write, as a multiple of the write's duration, while messages wait.
    static let messagesFactor: Int64 = 8
    /// The shortest pause while messages wait. A shorter one saves less than the timer that ends it costs.
    static let shortestMessagesRest = LocalTime.Span(.milliseconds(1))

    private let longestMessagesRest: LocalTime.Span
    private var lastWrite = (end: LocalTime.distantPast, duration: LocalTime.Span(nanoseconds: 0))

    /// The pauses of a channel that was not written to yet.
    /// - Parameter longest: the longest pause while messages wait; 0: messages never wait.
    package init(longest: LocalTime.Span) { longestMessagesRest = longest }

    /// Whether the events have to wait.
    /// - Returns: the time to wait for; nil: write now.
    package func end(for waiting: Waiting, now: LocalTime) -> LocalTime? {
        guard waiting.count < Self.bound, waiting.bytes < Self.byteBound else { return nil }
        let end = lastWrite.end + (waiting.hasMessages ? messagesRest : movesRest)
        return now < end ? end : nil
    }

    private var movesRest: LocalTime.Span { min(lastWrite.duration * Self.movesFactor, Self.longestMovesRest) }

    private var messagesRest: LocalTime.Span {
        let rest = min(lastWrite.duration * Self.messagesFactor, longestMessagesRest)
        return rest < Self.shortestMessagesRest ? LocalTime.Span(nanoseconds: 0) : rest
    }

    /// The members were written to, between these times.
    package mutating func wrote(from start: LocalTime, to end: LocalTime) { lastWrite = (end, end - start) }
}

extension ChannelEvent {
    /// Whether the event is a join or a leave.
    package var isMove: Bool {
        switch kind {
        case .joined, .left: true
        case .message, .attributes: false
        }
    }

    /// The length of the longest text in the event.
    fileprivate var textBytes: Int {
        switch kind {
        case .message(let text): text.utf8.count
        case .attributes(.update(let attribute)): attribute.value.utf8.count
        case .attributes(.delete), .attributes(.clear), .joined, .left: 0
        }
    }
}
