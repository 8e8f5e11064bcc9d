internal import NIOCore

/// The commands of one slot that wait, in the order in which they were submitted.
struct SlotHold: Sendable {
    enum Stage: Sendable, Equatable {
        /// None of the commands has been refused. All are sent as soon as the owner is known and connected.
        case waiting
        /// A command was refused or lost, or the slot moved under commands in flight. When none of the slot's commands
        /// is in flight any more, the first is sent alone. Goes to probing.
        case settling
        /// The first command is in flight alone. If it is carried out, goes to waiting; if
        /// it is refused, back to settling.
        case probing
    }

    /// Deadlines are looked at in steps of this, and retries in steps of ``retryStep``, so that many share a timer.
    static let deadlineStep = TimeAmount.milliseconds(20)
    static let retryStep = TimeAmount.milliseconds(5)

    var stage: Stage
    /// Sorted by number.
    private(set) var queue: [ClusterCommand] = []
    /// The commands at the start of `queue` that have been taken out.
    private var taken = 0
    /// When the slot may be tried again; nil for at once.
    var retryAt: NIODeadline?
    /// Why the server refused last; nil when none has.
    var lastRefusal: RedisError.Code?
    /// No command in `queue` has an earlier deadline.
    private(set) var earliestDeadline = NIODeadline.distantFuture

    init(stage: Stage) { self.stage = stage }

    var count: Int { queue.count - taken }
    var isEmpty: Bool { taken == queue.count }
    var first: ClusterCommand? { isEmpty ? nil : queue[taken] }

    /// Puts a command in its place, usually the end.
    mutating func insert(_ command: ClusterCommand) {
        earliestDeadline = min(earliestDeadline, command.traits.deadline)
        guard let last = queue.last, last.number > command.number else { return queue.append(command) }
        var (low, high) = (taken, queue.count)
        while low < high {
            let middle = (low + high) / 2
            if queue[middle].number < command.number { low = middle + 1 } else { high = middle }
        }
        queue.insert(command, at: low)
    }

    /// Takes out the first command.
    mutating func takeFirst() -> ClusterCommand? {
        guard let command = first else { return nil }
        taken += 1
        if taken == queue.count || taken >= 64 && taken * 2 >= queue.count {
            queue.removeFirst(taken)
            taken = 0
        }
        return command
    }

    /// Takes out the commands whose deadline has come.
    mutating func takeExpired(_ now: NIODeadline) -> [ClusterCommand] {
        guard earliestDeadline <= now else { return [] }
        queue.removeFirst(taken)
        taken = 0
        let expired = queue.filter { $0.traits.deadline <= now }
        queue.removeAll { $0.traits.deadline <= now }
        earliestDeadline = queue.lazy.map(\.traits.deadline).min() ?? .distantFuture
        return expired
    }

    /// When the hold must be looked at again: for a retry or for a deadline. Nil when only an event can change it.
    /// - Parameter isDrained: whether none of the slot's commands is in flight, so that it can be tried.
    func wakeAt(isDrained: Bool) -> NIODeadline? {
        let deadline = isEmpty ? nil : earliestDeadline.roundedUp(to: Self.deadlineStep)
        guard stage == .settling, isDrained, let retryAt else { return deadline }
        return deadline.map { min($0, retryAt) } ?? retryAt
    }
}

extension NIODeadline {
    /// The first multiple of a step that is not earlier.
    func roundedUp(to step: TimeAmount) -> NIODeadline {
        let step = UInt64(step.nanoseconds)
        return .uptimeNanoseconds((uptimeNanoseconds + step - 1) / step * step)
    }
}
