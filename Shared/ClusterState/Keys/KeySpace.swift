package import SignalingProtocol

/// The names of all keys, streams and topics in Redis.
///
/// Parts that a client may choose are escaped, so that names with colons or braces cannot collide across
/// users, channels and apps. The braces are Redis Cluster hash tags: all keys of one user, and all of one
/// channel, are in the same slot. Users share the tags of 4,096 ``Buckets``, so that what concerns a user and
/// a gateway can be in the user's slot too.
package enum KeySpace {
    /// The prefix of a user's keys: `{BUCKET}a:APP:u:ACCOUNT`. Functions are given only
    /// this key and append the suffixes.
    package static func tag(_ user: UserKey) -> String {
        let name = name(user)
        return tag(named: name, inBucket: Buckets.bucket(of: name))
    }

    /// The same, without finding out the user's bucket.
    package static func tag(_ user: UserKey, inBucket bucket: Int) -> String {
        tag(named: name(user), inBucket: bucket)
    }

    private static func tag(named name: String, inBucket bucket: Int) -> String {
        let bucket = Buckets.shared.tag(bucket)
        // Appended, not interpolated, because each message makes two tags: one allocation instead of several.
        var tag = ""
        tag.reserveCapacity(name.utf8.count + bucket.utf8.count + 2)
        tag += "{"
        tag += bucket
        tag += "}"
        tag += name
        return tag
    }

    /// What names a user in keys, apart from the bucket: `a:APP:u:ACCOUNT`.
    package static func name(_ user: UserKey) -> String {
        let (app, account) = (escape(user.app.rawValue), escape(user.account.rawValue))
        var name = ""
        name.reserveCapacity(app.utf8.count + account.utf8.count + 5)
        name += "a:"
        name += app
        name += ":u:"
        name += account
        return name
    }

    /// The prefix of an app's own keys: `{a:APP}`.
    package static func tag(_ app: AppID) -> String { "{a:\(escape(app.rawValue))}" }

    /// The prefix of a channel's keys, in a slot of its own: `{a:APP:c:CHANNEL}`.
    package static func tag(_ channel: ChannelKey) -> String {
        "{a:\(escape(channel.app.rawValue)):c:\(escape(channel.name.rawValue))}"
    }

    /// The prefix of a log's keys: `{a:APP:c:_agora_channel_event}e:LOG`. In the slot of the special channel of joins,
    /// so that one question finds out whether anyone hears of a join, and of a channel that it creates.
    package static func tag(_ log: FollowedLog, of app: AppID) -> String {
        tag(ChannelKey(app: app, name: ChannelName(.channelEvent))) + "e:" + log.rawValue
    }

    /// The prefix of a call's keys: `{a:APP:i:CHANNEL:CALLER:CALLEE}`.
    package static func callTag(channel: ChannelKey, caller: Account, callee: Account) -> String {
        let parties = "\(escape(caller.rawValue)):\(escape(callee.rawValue))"
        return "{a:\(escape(channel.app.rawValue)):i:\(escape(channel.name.rawValue)):\(parties)}"
    }

    /// The prefix of the keys about one write of the server API, in a slot of its own: `{k:KEY:NAME}`.
    /// - Parameters:
    ///   - key: the id of the client's key of the server API.
    ///   - name: the client's idempotency key.
    package static func apiTag(key: String, idempotencyKey name: String) -> String {
        "{k:\(escape(key)):\(escape(name))}"
    }

    /// Hash: a call's record.
    /// - Parameter tag: the result of ``callTag(channel:caller:callee:)``.
    package static func call(tag: String) -> String { tag + ":call" }

    /// The pub/sub topic of a channel's events.
    package static func topic(_ channel: ChannelKey) -> String { tag(channel) + ":events" }

    /// The pub/sub topic of one gateway on a single Redis: replies to its commands, and events for its sessions.
    package static func topic(_ gateway: GatewayID) -> String { "gateway:\(gateway.rawValue):events" }

    /// The topic, in a cluster, of one gateway for a bucket's users. Functions that publish name it too, see
    /// `flavour_cluster.lua`.
    package static func topic(_ gateway: GatewayID, bucket: Int) -> String {
        topic(.gateway(gateway), tag: "{\(Buckets.shared.tag(bucket))}")
    }

    /// The pub/sub topic on which gateways tell what happens on a user's connections, see ``BusProtocol/TraceOrder``.
    package static func topic(ofTrace id: String, of user: UserKey) -> String { tag(user) + ":trace:" + id }

    /// The pub/sub topic of one sip-bridge on a single Redis: replies to its commands.
    package static func topic(_ bridge: BridgeID) -> String { "bridge:\(bridge.rawValue):events" }

    /// The pub/sub topic on which a process gets the replies to the commands that it sends over one partition.
    package static func topic(_ asker: AskerID, in partition: BusPartition) -> String {
        if let tag = partition.tag { return topic(asker, tag: tag) }
        return switch asker {
        case .gateway(let gateway): topic(gateway)
        case .bridge(let bridge): topic(bridge)
        }
    }

    private static func topic(_ asker: AskerID, tag: String) -> String {
        switch asker {
        case .gateway(let gateway): "\(tag)g:\(gateway.rawValue)"
        case .bridge(let bridge): "\(tag)b:\(bridge.rawValue)"
        }
    }

    /// String with time to live: a gateway's first lease, see ``LeaseFleet``.
    package static func lease(_ gateway: GatewayID) -> String { "{g:\(gateway.rawValue)}:lease" }

    /// String with time to live, in a cluster: a further lease, beside the keys of a partition.
    /// - Parameter name: the kind of process, its id, and the number of the lease.
    static func lease(_ name: String, in partition: BusPartition) -> String { (partition.tag ?? "") + "lease:" + name }

    /// Set: the sessions of a bucket's users whose record names the gateway, each as a ``SessionRoute``. Only the
    /// functions that change those records, in the same slot, add to it.
    package static func routes(_ gateway: GatewayID, bucket: Int) -> String {
        "{\(Buckets.shared.tag(bucket))}r:\(gateway.rawValue)"
    }

    /// Sorted set: ids of gateways that do not drain, scored by the time of their last heartbeat (ms).
    package static let gateways = control + "gateways"

    /// Hash: what the gateways of ``gateways`` tell discovery, by id.
    package static let gatewayRecords = gateways + ":records"

    /// The prefix of a sip-bridge's keys: `{bridge:ID}`.
    package static func bridgeTag(_ bridge: BridgeID) -> String { "{bridge:\(bridge.rawValue)}" }

    /// String with time to live: a sip-bridge's lease, see ``LeaseFleet``.
    package static func bridgeLease(_ bridge: BridgeID) -> String { bridgeTag(bridge) + ":lease" }

    /// Sorted set: ids of sip-bridges that do not drain, scored by the time of their last heartbeat (ms).
    package static let bridges = control + "bridges"

    /// Hash: the records of ``bridges``, without fields, by id.
    package static let bridgeRecords = bridges + ":records"

    /// What a media node's place among the slots is derived from: `{media:ID}`.
    package static func mediaTag(_ node: MediaNodeID) -> String { "{media:\(node.rawValue)}" }

    /// Sorted set: ids of media nodes, scored by the time of their last heartbeat (ms).
    package static let mediaNodes = control + "medias"

    /// Hash: what the nodes of ``mediaNodes`` tell gateways, by id.
    package static let mediaNodeRecords = mediaNodes + ":records"

    // Each partition of the bus has one of each of the following keys of a service. The partition has no default value:
    // code that forgets to name one would work on a single Redis and fail in a cluster.

    /// Stream: commands to a service whose sender waits for a reply.
    package static func commands(_ service: ServiceName, in partition: BusPartition) -> String {
        partition.named("cmd:\(service.rawValue)")
    }

    /// Stream: commands to a service without a reply. Never trimmed: commands stay until they are done.
    package static func posts(_ service: ServiceName, in partition: BusPartition) -> String {
        partition.named("post:\(service.rawValue)")
    }

    /// Stream: entries moved off a service's other streams because no instance could handle them.
    package static func setAside(_ service: ServiceName, in partition: BusPartition) -> String {
        partition.named("dead:\(service.rawValue)")
    }

    /// Stream: commands to one sip-bridge, about the calls that it holds.
    package static func commands(_ bridge: BridgeID) -> String { bridgeTag(bridge) + ":cmd" }

    /// Stream: commands to one media node, beside the topics on which the replies are published.
    package static func commands(_ node: MediaNodeID, in partition: BusPartition) -> String {
        partition.named(mediaCommands + node.rawValue)
    }

    private static let mediaCommands = "cmd:media:"

    /// Sorted set: libraries of Redis Functions, scored by the time at which a process last
    /// recorded that it uses them (ms).
    package static let libraries = control + "libraries"

    /// The prefix of the keys about the cluster's own processes, which are in one slot.
    package static let control = "{control}"

    /// Hash: the ``RedisLayout``, written once.
    package static let layout = control + "layout"

    /// Sorted set: ids of running processes, scored by the time of their last heartbeat (ms).
    package static let instances = control + "instances"

    /// Sorted set: ids of running processes, scored by their level.
    package static let instanceLevels = control + "levels"

    /// Hash with time to live: a running process's description of itself.
    /// - Parameter id: the process's name and a random part.
    package static func instance(_ id: String) -> String { control + "i:" + id }

    /// Sorted set: a service's timers, scored by the time at which they are due.
    package static func due(_ service: ServiceName, in partition: BusPartition) -> String {
        partition.named("due:\(service.rawValue)")
    }

    /// String: held by the process that runs the current round of a ``SingletonJob``.
    /// - Parameter name: the job's name, unique among all services.
    package static func round(_ name: String) -> String { "round:\(name)" }

    /// String with time to live: held by the instance of channel-state that surveys the channels in PostgreSQL.
    package static let channelSurvey = "survey:channel-state"

    /// String with time to live: held by the instance of invitation that compares the call log with the calls in Redis.
    package static let callReconciliation = "reconcile:invitation"

    /// String: the time (us) since which Redis has kept its data; channel-state sets it whenever it is missing.
    package static func dataKeptSince(in partition: BusPartition) -> String {
        partition.named("channel-state:birth")
    }

    /// Stream: what is copied into PostgreSQL.
    package static func mirror(_ mirror: Mirror, in partition: BusPartition) -> String {
        partition.named("mirror:\(mirror.name)")
    }

    /// The slot of the keys of a subject.
    package static func slot(of subject: Subject) -> UInt16 {
        switch subject {
        case .user(let user): Buckets.slot(ofBucket: Buckets.bucket(of: name(user)))
        case .channel(let channel): KeySlot.of(tag(channel))
        case .app(let app): KeySlot.of(tag(app))
        case .gateway(let gateway): KeySlot.of(lease(gateway))
        case .bridge(let bridge): KeySlot.of(bridgeTag(bridge))
        case .mediaNode(let node): KeySlot.of(mediaTag(node))
        case .tagged(let tag): KeySlot.of(tag)
        }
    }

    /// Whether a key is named as those here: with a tag, or as one of the few without.
    package static func isOwn(_ key: String) -> Bool {
        key.hasPrefix("{") || key.hasPrefix(round("")) || key.hasPrefix(mediaCommands)
            || untagged.contains { key == $0 || key.hasPrefix($0 + ":{") }
    }

    /// What keys without a tag, or with one at their end, are named or begin with.
    private static let untagged =
        [channelSurvey, callReconciliation, dataKeptSince(in: .whole)]
        + ServiceName.allCases.flatMap { service in
            [
                commands(service, in: .whole), posts(service, in: .whole), setAside(service, in: .whole),
                due(service, in: .whole),
            ]
        } + Mirror.all.map { mirror($0, in: .whole) }

    private static func escape(_ text: String) -> String { PercentEscape.escape(text) }
}
