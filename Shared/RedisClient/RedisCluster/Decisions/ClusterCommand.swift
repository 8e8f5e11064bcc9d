internal import NIOCore

/// What a ``ClusterStateMachine`` knows of a command. The command itself stays with the driver.
struct ClusterCommand: Sendable, Equatable {
    /// What the sender says of a command.
    struct Traits: Sendable, Equatable {
        /// The slot of the command's keys; see ``KeySlot``.
        var slot: UInt16
        /// When the command fails with `TIMEOUT` if it is still held. For a command that may be
        /// repeated: the end of that time.
        var deadline: NIODeadline
        /// Whether the command names two keys that never exist, so that it is carried out only where the whole slot is:
        /// every function call of a cluster. Such a command waits for the end of a migration; any other names
        /// one key, and follows ASK to it.
        var isFenced: Bool
        /// Whether the command may be sent again when its outcome is unknown.
        var isRepeatable: Bool
    }

    /// Counts the commands: a command with a larger number was submitted later.
    let number: UInt64
    let traits: Traits

    var slot: UInt16 { traits.slot }
}

/// The answer to the submission of a command.
enum Submission: Sendable, Equatable {
    /// Send it to this node.
    case send(ClusterCommand, to: NodeNumber)
    /// Keep it until an action sends it or fails it.
    case hold(ClusterCommand)
    /// Fail it: nothing has been sent.
    case refuse(RedisError)
}

/// Where the map is read.
enum MapSource: Sendable, Equatable, Hashable {
    /// From a node with which there is a connection.
    case node(NodeNumber)
    /// From an address of the configuration, on a connection for this purpose only; from a Sentinel in that flavour.
    case seed(NodeAddress)
}

/// What the driver of a ``ClusterStateMachine`` must do, in the order given.
enum ClusterAction: Sendable, Equatable {
    /// Connect to a node, and again whenever the connection breaks.
    case open(NodeNumber, NodeAddress)
    /// Close the connection to a node for good, then report its commands in flight as
    /// lost; report nothing else about it.
    case drop(NodeNumber)
    /// Send a held command.
    /// - Parameter asking: whether to send ASKING before it.
    case send(UInt64, to: NodeNumber, asking: Bool)
    /// Complete a held command with an error.
    case fail(UInt64, RedisError)
    /// Read the map; report the result under this number.
    case readMap(UInt64, from: MapSource)
    /// Route subscriptions anew: the slots that have moved belong to other nodes.
    case mapChanged(SlotMapChanges)
}
