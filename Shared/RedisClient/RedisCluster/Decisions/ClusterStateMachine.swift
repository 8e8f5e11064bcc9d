internal import ClusterState
internal import NIOCore

/// Decides to which node each command goes, and what happens when a node refuses it or is lost; no I/O and no clock.
///
/// **Order.** The commands of one slot are carried out in the order in which they were submitted. The first refusal
/// closes the slot: later commands wait behind the refused one, and what was in flight and is refused too takes its
/// place among them. When nothing of the slot is in flight any more, the first command alone tries the slot; when it
/// has been carried out, all others follow. One case is left, that of a node that refuses a command and carries out the
/// next one in the same pipeline, because a migration was cancelled between the two.
///
/// **Repetition.** A refused command has had no effect and is sent again until its deadline. A command whose
/// outcome is unknown, because its connection broke, is sent again only if it may be repeated.
///
/// With one master (see ``RedisFlavour/hasOneMaster``) all commands count as commands of slot 0, so that the same rules
/// apply to all of them together and no owner is looked up.
///
/// The driver calls one method per event and performs the actions that it returns, in order, before it performs those
/// of a later event. It calls ``timer(_:)`` at ``wakeAt``.
struct ClusterStateMachine: ~Copyable {
    let settings: ClusterSettings
    var random: any RandomNumberGenerator & Sendable
    var nodes = NodeTable()
    /// Which master owns which slot, as last read and as MOVED has corrected it since; nil before the first reading.
    var map: SlotMap?
    /// By slot: the owner's number, or ``nobody``. With one master only slot 0 counts.
    var owners: [NodeNumber]
    /// By slot: the commands that have been sent and not answered.
    var inFlight: [UInt32]
    /// The closed slots.
    var holds: [UInt16: SlotHold] = [:]
    /// The commands in flight and held.
    var pending = 0
    var reading: MapReading
    var readingFrom: MapSource?
    /// Why the last reading failed; nil when it succeeded.
    var lastReadFailure: RedisError?
    /// When nodes that own nothing are looked through again; nil when there are none.
    var nextDrop: NIODeadline?
    /// Until when commands are held back because of a failover; nil when they are not.
    var suspendedUntil: NIODeadline?
    /// When to call ``timer(_:)``; nil for never. An earlier call does nothing.
    var wakeAt: NIODeadline?
    private var lastNumber: UInt64 = 0
    /// What a slot is masked with: all slots are one with one master.
    private let mask: UInt16

    /// The owner of a slot without a known owner.
    static let nobody = NodeNumber.max

    /// - Parameter random: spreads retries and map readings of many clients over time.
    init(_ settings: ClusterSettings, random: any RandomNumberGenerator & Sendable) {
        self.settings = settings
        self.random = random
        reading = MapReading(settings.reading)
        let slots = settings.flavour.hasOneMaster ? 1 : KeySlot.count
        mask = UInt16(slots - 1)
        owners = [NodeNumber](repeating: Self.nobody, count: slots)
        inFlight = [UInt32](repeating: 0, count: slots)
    }

    /// Begins: has the map read from a seed.
    mutating func start(_ now: NIODeadline) -> [ClusterAction] {
        reading.start(now)
        return timer(now)
    }

    /// A command is to be sent.
    mutating func submit(_ traits: ClusterCommand.Traits) -> Submission {
        guard pending < settings.maxPending else {
            return .refuse(.full("pending Redis commands", bound: settings.maxPending))
        }
        let slot = index(traits.slot)
        let owner = owners[Int(slot)]
        if holds.isEmpty || holds[slot] == nil, owner != Self.nobody, nodes.isReady(owner) {
            inFlight[Int(slot)] += 1
            return .send(accept(traits), to: owner)
        }
        if let hold = holds[slot], hold.count >= heldPerSlot {
            return .refuse(.full("commands that wait for a slot of Redis", bound: heldPerSlot))
        }
        let command = accept(traits)
        holds[slot, default: SlotHold(stage: .waiting)].insert(command)
        wake(at: traits.deadline.roundedUp(to: SlotHold.deadlineStep))
        return .hold(command)
    }

    private mutating func accept(_ traits: ClusterCommand.Traits) -> ClusterCommand {
        pending += 1
        lastNumber += 1
        return ClusterCommand(number: lastNumber, traits: traits)
    }

    /// With one master the slot is all there is.
    private var heldPerSlot: Int { settings.flavour.hasOneMaster ? settings.maxPending : settings.maxHeldPerSlot }

    /// The place of a slot in the tables.
    func index(_ slot: UInt16) -> UInt16 { slot & mask }

    /// Whether commands that are sent without waiting for each other's answers are carried out in that order: those of
    /// one slot are, and those of one node unless a slot of theirs is closed.
    ///
    /// A migration that begins at that very moment may still refuse an earlier command and let a
    /// later one of another slot pass.
    func keepsOrder(of slots: [UInt16]) -> Bool {
        guard let first = slots.first.map({ index($0) }) else { return true }
        if slots.allSatisfy({ index($0) == first }) { return true }
        let owner = owners[Int(first)]
        return owner != Self.nobody && nodes.isReady(owner)
            && slots.allSatisfy { owners[Int(index($0))] == owner && holds[index($0)] == nil }
    }

    /// The first slot of each owner.
    var ownersSlots: [UInt16] {
        var known: Set<NodeNumber> = [Self.nobody]
        var last = Self.nobody
        var slots: [UInt16] = []
        for (slot, owner) in owners.enumerated() where owner != last {
            last = owner
            if known.insert(owner).inserted { slots.append(UInt16(slot)) }
        }
        return slots
    }

    /// Asks to be called at a time.
    mutating func wake(at time: NIODeadline) { wakeAt = wakeAt.map { min($0, time) } ?? time }

    /// Ends: fails what is held and drops all nodes.
    mutating func close() -> [ClusterAction] {
        var actions: [ClusterAction] = []
        for slot in holds.keys.sorted() {
            while let command = holds[slot]?.takeFirst() { fail(command, .shutDown, &actions) }
        }
        holds = [:]
        for number in nodes.all {
            nodes.remove(number)
            actions.append(.drop(number))
        }
        owners = owners.map { _ in Self.nobody }
        wakeAt = nil
        return actions
    }
}
