internal import NIOCore

/// How Redis is run, as far as its clients must know.
package enum RedisFlavour: String, Sendable, Equatable {
    /// One server at a fixed address.
    case single
    /// One master at a time, which Sentinels name.
    case sentinel
    /// Several masters with the slots of Redis Cluster.
    case cluster

    /// Whether every command goes to the same server.
    var hasOneMaster: Bool { self != .cluster }
}

/// Bounds and times of a ``ClusterStateMachine``.
struct ClusterSettings: Sendable, Equatable {
    /// Not `single`, which needs no decisions.
    var flavour = RedisFlavour.cluster
    /// The addresses from the configuration: the Sentinels, or some nodes of the cluster. Not empty.
    var seeds: [NodeAddress]
    /// The largest number of commands that are in flight or held; default 65,536. Further ones are refused with `FULL`.
    var maxPending = 65_536
    /// The largest number of one slot's held commands; default 8,192. Further ones are refused with `FULL`, so that one
    /// slot that stays closed does not use up ``maxPending``. Commands that come back refused are held past it.
    var maxHeldPerSlot = 8192
    /// The largest number of nodes with which connections are kept; default 2,000, twice what a map may name.
    var maxNodes = 2 * SlotMap.maxMasters
    /// The pause, in milliseconds, after a refusal because of a slot's migration: about as
    /// long as a slot of many keys takes.
    var migrationPause: ClosedRange<Int64> = 10...40
    /// The pause, in milliseconds, after a refusal because of a server's state.
    var statePause: ClosedRange<Int64> = 50...150
    /// How long a node stays connected that owns nothing and was last named by ASK; default 2 s.
    var guestTime: TimeAmount = .seconds(2)
    /// How long a node of a cluster that owns nothing any more may answer what is in flight; default 250 ms.
    var leaveTime: TimeAmount = .milliseconds(250)
    /// How long commands are held back at most when a Sentinel has begun a failover: then it has failed without a word.
    /// Default 4 s; a failover of a healthy master takes a second.
    var suspensionTime: TimeAmount = .seconds(4)
    /// When the map is read.
    var reading = MapReading.Times()
}
