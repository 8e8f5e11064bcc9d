internal import DequeModule
internal import NIOCore

/// Decides when answers to durable commands may be passed on.
///
/// A server's answer says that the server has done a write, not that a replica has it. So answers are kept, in the
/// order in which they arrived, until the server says how many replicas have acknowledged everything up to now. One
/// question is asked at a time; it covers all answers that had arrived before it. No I/O; times are passed in.
struct ReplicationGate: Sendable, Equatable {
    /// What becomes of the answers that have been kept longest.
    struct Verdict: Sendable, Equatable {
        /// The number of answers.
        let count: Int
        /// Whether enough replicas have what their commands wrote; otherwise they fail.
        let isReplicated: Bool
    }

    /// How much longer than it was told a server may take to answer a question before its connection counts as broken.
    /// Not less: a busy server, or one whose process is stopped for a moment, must not cost a connection.
    static let patience = TimeAmount.seconds(1)

    /// How many replicas must have a write; at least 1.
    let replicas: Int
    /// When the answers that are kept fail, in their order, none earlier than the one before it.
    private var deadlines: Deque<NIODeadline> = []
    /// The number of answers, counted from the first, that the question under way covers.
    private var asked = 0
    /// By when the server has been told to answer the question under way; nil when there is none.
    private var questionEnd: NIODeadline?

    init(replicas: Int) { self.replicas = replicas }

    /// The number of answers that are kept.
    var count: Int { deadlines.count }

    /// When the first of them fails; nil when there are none.
    var nextDeadline: NIODeadline? { deadlines.first }

    /// Whether a question is under way.
    var isAsking: Bool { questionEnd != nil }

    /// An answer has arrived.
    /// - Parameter deadline: when it fails.
    mutating func keep(until deadline: NIODeadline) { deadlines.append(deadline) }

    /// To be called when a question can be asked and there may be answers that none covers.
    /// - Returns: the time that the server has to answer, in milliseconds, at least 1; nil when nothing is to be asked.
    mutating func ask(_ now: NIODeadline) -> Int64? {
        guard !isAsking, let last = deadlines.last else { return nil }
        asked = deadlines.count
        questionEnd = max(last, now)
        // Rounded up; 0 would mean without a limit.
        return max(1, ((last - now).nanoseconds + 999_999) / 1_000_000)
    }

    /// The question has been answered.
    /// - Parameter number: how many replicas have acknowledged everything up to the question.
    mutating func answered(_ number: Int64) -> Verdict { end(isReplicated: number >= replicas) }

    /// The connection on which the question was asked is broken. Answers that it did not cover are kept.
    mutating func lost() -> Verdict { end(isReplicated: false) }

    /// Forgets the answers whose deadline has come.
    /// - Returns: their number.
    mutating func expire(_ now: NIODeadline) -> Int {
        var count = 0
        while let first = deadlines.first, first <= now {
            deadlines.removeFirst()
            count += 1
        }
        asked = max(0, asked - count)
        return count
    }

    /// Forgets all answers. A question that is under way goes on, and covers none.
    mutating func forget() {
        deadlines.removeAll()
        asked = 0
    }

    /// Whether the question under way should have been answered long ago.
    func isOverdue(_ now: NIODeadline) -> Bool { questionEnd.map { now >= $0 + Self.patience } ?? false }

    private mutating func end(isReplicated: Bool) -> Verdict {
        let verdict = Verdict(count: asked, isReplicated: isReplicated)
        deadlines.removeFirst(asked)
        asked = 0
        questionEnd = nil
        return verdict
    }
}
