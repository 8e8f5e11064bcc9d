import ClusterState
import SignalingProtocol
import Testing

@Suite struct KeySpaceTests {
    /// Texts that resemble parts of other keys.
    static let hostile = [
        "a", "a:u:b", "a}:u:{b", "{", "}", "%", "%3A", ":", "a:c:x", "a.b", "a%20b", "u", "é", "e\u{301}",
    ]

    private func users() throws -> [UserKey] {
        var users: [UserKey] = []
        for account in Self.hostile {
            for app in Self.hostile where app.utf8.allSatisfy({ $0 < 0x80 }) {
                users.append(UserKey(app: try AppID(app), account: try Account(account)))
            }
        }
        return users
    }

    @Test func keysOfDifferentOwnersDiffer() throws {
        var tags: Set<[UInt8]> = []
        var count = 0
        for user in try users() {
            let channel = ChannelKey(app: user.app, name: try ChannelName(user.account.rawValue))
            for key in [KeySpace.tag(user), KeySpace.tag(channel), KeySpace.topic(channel)] {
                tags.insert(Array(key.utf8))
                count += 1
            }
        }
        #expect(tags.count == count)
    }

    @Test func callsOfDifferentPartiesDiffer() throws {
        let app = try AppID("app")
        let names = ["a", "a:b", "b", ":", "a:", ":b"]
        var tags: Set<String> = []
        for channel in names {
            for caller in names {
                for callee in names {
                    tags.insert(
                        KeySpace.callTag(
                            channel: ChannelKey(app: app, name: try ChannelName(channel)), caller: try Account(caller),
                            callee: try Account(callee)))
                }
            }
        }
        #expect(tags.count == names.count * names.count * names.count)
    }

    @Test func theHashTagOfAUsersKeysIsTheBucket() throws {
        for user in try users() {
            let (name, tag) = (KeySpace.name(user), KeySpace.tag(user))
            let bucket = Buckets.bucket(of: name)
            #expect(tag == "{\(Buckets.shared.tag(bucket))}\(name)")
            #expect(UserKeys(user, inBucket: bucket).tag == tag)
            #expect(KeySlot.of(tag + ":session") == Buckets.slot(ofBucket: bucket))
            #expect(!name.utf8.contains { "{}".utf8.contains($0) })
        }
    }

    @Test func theHashTagOfAChannelIsTheWholeTag() throws {
        for user in try users() {
            let tag = KeySpace.tag(ChannelKey(app: user.app, name: try ChannelName(user.account.rawValue)))
            // Redis Cluster hashes the text between the first { and the first } after it.
            #expect(tag.utf8.first == UInt8(ascii: "{"))
            #expect(tag.utf8.firstIndex(of: UInt8(ascii: "}")) == tag.utf8.index(before: tag.utf8.endIndex))
            #expect(tag.utf8.dropFirst().firstIndex(of: UInt8(ascii: "{")) == nil)
        }
    }

    @Test func theNamesAreThoseOfTheDesign() throws {
        let app = try AppID("app")
        #expect(KeySpace.tag(UserKey(app: app, account: try Account("anna"))) == "{37x}a:app:u:anna")
        let channel = ChannelKey(app: app, name: try ChannelName("room 1"))
        #expect(KeySpace.tag(channel) == "{a:app:c:room%201}")
        #expect(KeySpace.topic(channel) == "{a:app:c:room%201}:events")
        #expect(KeySpace.topic(.gateway(GatewayID("g1")), in: .whole) == "gateway:g1:events")
        #expect(KeySpace.topic(.bridge(BridgeID("b1")), in: .whole) == "bridge:b1:events")
        #expect(GatewayID.fleet.timer(GatewayID("g1")) == "gateway g1")
        #expect(BridgeID.fleet.timer(BridgeID("b1")) == "bridge b1")
        #expect(KeySpace.commands(.channelState, in: .whole) == "cmd:channel-state")
        #expect(KeySpace.commands(BridgeID("b1")) == "{bridge:b1}:cmd")
        #expect(KeySpace.posts(.channelState, in: .whole) == "post:channel-state")
        #expect(KeySpace.setAside(.channelState, in: .whole) == "dead:channel-state")
        #expect(KeySpace.lease(GatewayID("g1")) == "{g:g1}:lease")
        #expect(KeySpace.bridgeLease(BridgeID("b1")) == "{bridge:b1}:lease")
        #expect(KeySpace.bridgeTag(BridgeID("b1")) == "{bridge:b1}")
        #expect(KeySpace.gateways == "{control}gateways")
        #expect(KeySpace.gatewayRecords == "{control}gateways:records")
        #expect(KeySpace.bridges == "{control}bridges")
        #expect(KeySpace.bridgeRecords == "{control}bridges:records")
        #expect(KeySpace.due(.presence, in: .whole) == "due:presence")
        #expect(KeySpace.mediaNodes == "{control}medias")
        #expect(KeySpace.mediaNodeRecords == "{control}medias:records")
        #expect(KeySpace.commands(MediaNodeID("m1"), in: .whole) == "cmd:media:m1")
    }

    @Test(arguments: KeySpaceTests.hostile + ["", " ", "%%", "%25", "a b:{c}.d%e"])
    func escapesAreUndone(text: String) {
        let escaped = PercentEscape.escape(text)
        #expect(!escaped.utf8.contains { ":{}. ".utf8.contains($0) })
        #expect(PercentEscape.unescape(escaped).map { Array($0.utf8) } == Array(text.utf8))
    }

    @Test(arguments: ["%", "%2", "%G0", "%0g", "a%", "%FF", "%C3", "%3a"])
    func badEscapesAreRefused(text: String) {
        #expect(PercentEscape.unescape(text) == nil)
    }

    @Test func keysOfOthersAreTold() throws {
        let partitions = BusLayout.single.partitions + BusLayout.cluster().partitions
        for partition in partitions {
            for service in ServiceName.allCases {
                #expect(KeySpace.isOwn(KeySpace.commands(service, in: partition)))
                #expect(KeySpace.isOwn(KeySpace.due(service, in: partition)))
            }
            for mirror in Mirror.all { #expect(KeySpace.isOwn(KeySpace.mirror(mirror, in: partition))) }
            #expect(KeySpace.isOwn(KeySpace.dataKeptSince(in: partition)))
            #expect(KeySpace.isOwn(KeySpace.commands(MediaNodeID("m1"), in: partition)))
        }
        for own in [KeySpace.layout, KeySpace.round("upkeep"), KeySpace.channelSurvey, KeySpace.callReconciliation] {
            #expect(KeySpace.isOwn(own))
        }
        for theirs in ["", "cmd", "cmd:", "cmd:billing", "cmd:presence:1", "session:1", "celery", "a{b}"] {
            #expect(!KeySpace.isOwn(theirs))
        }
    }

    @Test func noChannelHasTheKeysOfAFollowedLog() throws {
        let app = try AppID("a")
        let special = ChannelKeys(ChannelKey(app: app, name: ChannelName(.channelEvent)))
        for log in FollowedLog.allCases {
            let keys = ChannelKeys(log, of: app)
            #expect(keys.tag == "{a:a:c:_agora_channel_event}e:\(log.rawValue)")
            #expect(KeySlot.of(keys.followed) == KeySlot.of(special.members))
            #expect(keys.state != special.state)
            // A channel that is named like it.
            for name in ["_agora_channel_event}e:\(log.rawValue)", "e:\(log.rawValue)"] {
                #expect(ChannelKeys(ChannelKey(app: app, name: try ChannelName(name))).tag != keys.tag)
            }
        }
    }

    @Test func theChannelOfAKeyOfMembers() throws {
        let channel = ChannelKey(app: try AppID("my:app"), name: try ChannelName("all {of} us"))
        let found = ChannelKeys.channel(ofMembers: ChannelKeys(channel).members)
        #expect(found?.app == "my:app" && found?.name == "all {of} us")
        for other in ["{a:x}:members", "{a:x:c:y}:info", "{a:x:i:y}:members", "{a:x:c:%4}:members", "x", ""] {
            #expect(ChannelKeys.channel(ofMembers: other) == nil)
        }
    }
}
