internal import SignalingProtocol

/// The topics that a ``ClusterSubscriber`` wants, and at which master those of each slot are subscribed; no I/O.
///
/// Topics of one slot go together: the server that stops serving a slot ends all subscriptions of it, and all must be
/// made anew at another. A slot is *attached* to the master where its topics are subscribed, or are being so.
struct ShardTopics<Waiter> {
    /// A topic's name, compared by bytes, as in Redis.
    private struct Name: ByteIdentifier {
        let rawValue: String
    }

    private struct Topic {
        /// Whether SSUBSCRIBE has been sent to the slot's master and not been confirmed.
        var isOutstanding = false
        var waiters: [Waiter] = []
    }

    private struct Slot {
        /// Nil while the slot is attached to no master.
        var master: NodeAddress?
        var topics: [Name: Topic] = [:]
        /// The topics that are outstanding.
        var outstanding = 0
        /// Whether messages may have been missed since the slot was last settled.
        var hasMissed = false

        var isSettled: Bool { master != nil && outstanding == 0 }

        /// Whether the slot is settled now after messages may have been missed; they count as told then.
        mutating func renews() -> Bool {
            guard isSettled, hasMissed else { return false }
            hasMissed = false
            return true
        }
    }

    /// What to do when a topic is wanted.
    enum Want: Sendable, Equatable {
        /// Nothing: it is subscribed.
        case confirmed
        /// Wait: it will be subscribed with its slot, or has been asked for already.
        case wait
        /// Send SSUBSCRIBE to this master.
        case subscribe(NodeAddress)
    }

    /// The slot of each wanted topic.
    private var slotOf: [Name: UInt16] = [:]
    private var slots: [UInt16: Slot] = [:]
    /// The slots that are attached to no master or have outstanding topics.
    private(set) var unsettled: Set<UInt16> = []

    /// The number of wanted topics.
    var count: Int { slotOf.count }

    /// Whether a topic's messages are wanted.
    func isWanted(_ topic: String) -> Bool { slotOf[Name(rawValue: topic)] != nil }

    /// The slots that are attached to no master.
    var detached: [UInt16] { unsettled.filter { slots[$0]?.master == nil }.sorted() }

    /// Where a slot's topics are subscribed; nil when it has none or is attached to no master.
    func master(ofSlot slot: UInt16) -> NodeAddress? { slots[slot]?.master }

    /// A topic is wanted.
    mutating func want(_ topic: String, slot: UInt16, _ waiter: Waiter) -> Want {
        let name = Name(rawValue: topic)
        var state = slots[slot] ?? Slot()
        defer { store(state, slot) }
        let known = state.topics[name]
        slotOf[name] = slot
        if let known, state.master != nil, !known.isOutstanding { return .confirmed }
        state.topics[name, default: Topic()].waiters.append(waiter)
        guard known == nil, let master = state.master else { return .wait }
        state.topics[name]?.isOutstanding = true
        state.outstanding += 1
        return .subscribe(master)
    }

    /// What follows when a topic is no longer wanted.
    struct Dropped {
        /// Where to send SUNSUBSCRIBE, if anywhere.
        let master: NodeAddress?
        let waiters: [Waiter]
        /// The slot, if only this topic kept it from being settled after messages to its
        /// other topics may have been missed.
        let renewed: UInt16?
    }

    /// A topic is no longer wanted.
    /// - Returns: nil when it was not wanted.
    mutating func drop(_ topic: String) -> Dropped? {
        let name = Name(rawValue: topic)
        guard let slot = slotOf.removeValue(forKey: name), var state = slots[slot],
            let dropped = state.topics.removeValue(forKey: name)
        else { return nil }
        if dropped.isOutstanding { state.outstanding -= 1 }
        let isRenewed = !state.topics.isEmpty && state.renews()
        store(state, slot)
        return Dropped(master: state.master, waiters: dropped.waiters, renewed: isRenewed ? slot : nil)
    }

    /// Attaches a slot to a master, from no other.
    /// - Returns: the topics for SSUBSCRIBE.
    mutating func attach(_ slot: UInt16, to master: NodeAddress) -> [String] {
        guard var state = slots[slot] else { return [] }
        state.master = master
        for name in state.topics.keys { state.topics[name]?.isOutstanding = true }
        state.outstanding = state.topics.count
        store(state, slot)
        return state.topics.keys.map(\.rawValue)
    }

    /// Detaches a slot: its topics are no longer subscribed, or will not be.
    mutating func detach(_ slot: UInt16) {
        guard var state = slots[slot], state.master != nil else { return }
        state.master = nil
        state.outstanding = 0
        state.hasMissed = true
        for name in state.topics.keys { state.topics[name]?.isOutstanding = false }
        store(state, slot)
    }

    /// Detaches all slots of a master whose connection is lost.
    mutating func detachAll(of master: NodeAddress) {
        for slot in slots.filter({ $0.value.master == master }).keys { detach(slot) }
    }

    /// A master has ended a subscription that was not given up.
    /// - Returns: the slot, which is detached now; nil when the topic is not wanted there.
    mutating func ended(_ topic: String, by master: NodeAddress) -> UInt16? {
        let name = Name(rawValue: topic)
        guard let slot = slotOf[name], slots[slot]?.master == master, slots[slot]?.topics[name]?.isOutstanding == false
        else { return nil }
        detach(slot)
        return slot
    }

    /// A master has confirmed a subscription.
    /// - Returns: the topic's waiters, and the slot if it is settled now after messages may have been missed.
    mutating func confirmed(_ topic: String, by master: NodeAddress) -> (waiters: [Waiter], renewed: UInt16?) {
        let name = Name(rawValue: topic)
        guard let slot = slotOf[name], var state = slots[slot], state.master == master,
            let topic = state.topics[name], topic.isOutstanding
        else { return ([], nil) }
        state.topics[name] = Topic()
        state.outstanding -= 1
        let isRenewed = state.renews()
        store(state, slot)
        return (topic.waiters, isRenewed ? slot : nil)
    }

    /// Removes and returns the waiters that meet a condition. Whoever gave up waiting counts on nothing until the slot
    /// is settled, and is told of it then, as after an outage.
    mutating func removeWaiters(where condition: (Waiter) -> Bool) -> [Waiter] {
        var removed: [Waiter] = []
        // A topic that is waited for is outstanding, or its slot is detached.
        for slot in unsettled {
            guard var state = slots[slot] else { continue }
            for (name, topic) in state.topics where topic.waiters.contains(where: condition) {
                removed += topic.waiters.filter(condition)
                state.hasMissed = true
                state.topics[name]?.waiters.removeAll(where: condition)
            }
            slots[slot] = state
        }
        return removed
    }

    private mutating func store(_ state: Slot, _ slot: UInt16) {
        slots[slot] = state.topics.isEmpty ? nil : state
        if state.topics.isEmpty || state.isSettled { unsettled.remove(slot) } else { unsettled.insert(slot) }
    }
}
