import BusProtocol
import CMediaNode
import CMediaPeer
import SignalingProtocol
import Synchronization
import TestKit
import Testing

@testable import MediaServer

/// The node with its socket, and engines at the other end of it.
@Suite struct MediaTransportTests {
    /// An engine that has joined.
    private final class Engine {
        let joined: MediaJoined
        let caller: OpaquePointer

        init(_ pid: String, uid: UInt32, node: MediaNode, port: Int) async throws {
            var pair = cm_key_pair()
            try #require(cm_key_pair_make(&pair))
            let key = Base64.text(withUnsafeBytes(of: pair.public_key) { Array($0) })
            joined = try await node.join(pid, uid: uid) {
                $0.transport = .engine(publicKey: key, codecs: ["opus"])
            }
            let engine = try #require(joined.engine)
            let peer = try #require(Base64.bytes(Substring(engine.publicKey)))
            var settings = cm_caller_settings()
            let salt = Array(pid.utf8)
            let isDerived = salt.withUnsafeBufferPointer {
                cm_keys_derive(
                    &settings.keys, CM_SUITE_GCM_128, &pair, peer, cm_bytes(data: $0.baseAddress, size: $0.count))
            }
            try #require(isDerived)
            settings.port = UInt16(port)
            withUnsafeMutableBytes(of: &settings.ufrag) { $0.copyBytes(from: engine.ufrag.utf8) }
            withUnsafeMutableBytes(of: &settings.password) { $0.copyBytes(from: engine.password.utf8) }
            settings.ssrc = engine.audioSource
            settings.opus = UInt8(engine.opus)
            settings.level_id = 1
            caller = try #require(cm_caller_open(&settings))
        }

        deinit { cm_caller_close(caller) }

        /// Checks until the node answers.
        func connect() async throws {
            try await waitUntil("the check is answered") {
                var check = cm_caller_check(is_nominating: true, is_controlled: false, is_forged: false)
                cm_caller_check(caller, &check)
                cm_caller_poll(caller, 100)
                return cm_caller_counts(caller).answers > 0 ? nil : "no answer"
            }
        }

        /// What was heard since the last call: SSRC and uid.
        func heard() -> [(ssrc: UInt32, uid: UInt32)] {
            cm_caller_poll(caller, 100)
            var all: [(UInt32, UInt32)] = []
            var next = cm_heard()
            while cm_caller_take(caller, &next) { all.append((next.rtp.ssrc, next.uid)) }
            return all
        }
    }

    /// A node behind a socket, and what it tells.
    private struct Served {
        let transport: MediaTransport
        let node: MediaNode
        let told = Told()

        init(members: Int = 500) throws {
            let address = try #require(NumericAddress("127.0.0.1"))
            transport = try MediaTransport(
                MediaTransportSettings(address: address, port: 0, participants: 10, members: members))
            let planner = MediaPathPlanner(
                address: "127.0.0.1", port: transport.port, fingerprint: transport.fingerprint, audioSlots: 6)
            node = MediaNode(
                bounds: MediaNodeBounds(),
                MediaNode.Surroundings(
                    paths: transport, planner: planner, publish: { [told] in told.add($1) }, clock: { 1_000_000 }))
        }
    }

    private final class Told: Sendable {
        private let events = Mutex<[MediaPublication]>([])
        func add(_ event: MediaPublication) { events.withLock { $0.append(event) } }
        var all: [MediaEvent] { events.withLock { $0.map(\.event) } }
    }

    @Test func twoEnginesHearEachOther() async throws {
        let served = try Served()
        let anna = try await Engine("anna", uid: 1, node: served.node, port: served.transport.port)
        let bert = try await Engine("bert", uid: 2, node: served.node, port: served.transport.port)
        try await anna.connect()
        try await bert.connect()
        for (speaker, listener, uid) in [(anna, bert, UInt32(1)), (bert, anna, 2)] {
            var heard: [(ssrc: UInt32, uid: UInt32)] = []
            try await waitUntil("\(uid) is heard") {
                #expect(cm_caller_say(speaker.caller, 30, 1))
                heard += listener.heard()
                return heard.isEmpty ? "nothing" : nil
            }
            let slots = try #require(listener.joined.engine).audioSlots
            #expect(heard.allSatisfy { $0.uid == uid && slots.contains($0.ssrc) })
        }
        let left = try await served.node.leave("anna")
        #expect(left.bytes > 0)
        let counts = try #require(await served.transport.counts())
        #expect(counts.participants == 1 && counts.channels == 1)
        await served.transport.stop()
    }

    @Test func theBoundsOfTheLoopAreTold() async throws {
        let served = try Served(members: 1)
        try await served.node.join("anna", uid: 1)
        #expect(await served.node.refusal("bert", uid: 2) == .refused)
        #expect(
            served.told.all == [.joined(uid: 2, flags: [], n: 1_000_002), .left(uid: 2, reason: .closed, n: 1_000_003)])
        // The one that is replaced makes room.
        #expect(await served.node.refusal("again", uid: 1) == nil)
        await served.transport.stop()
    }

    @Test func afterItsEndALoopStillAnswers() async throws {
        let served = try Served()
        try await served.node.join("anna", uid: 1)
        await served.transport.stop()
        try await waitUntil("the loop has ended") { await served.transport.counts() == nil ? nil : "it runs" }
        #expect(await served.node.refusal("bert", uid: 2) == .refused)
        #expect(await served.transport.close(1) == MediaTraffic())
        // The end of the loop is the end of its events.
        for await _ in served.transport.events { Issue.record("nobody was dropped") }
    }

    @Test func aPortThatIsTakenIsAnError() async throws {
        let served = try Served()
        let address = try #require(NumericAddress("127.0.0.1"))
        let settings = MediaTransportSettings(
            address: address, port: UInt16(served.transport.port), participants: 1, members: 1)
        #expect(throws: MediaTransportError.self) { try MediaTransport(settings) }
        await served.transport.stop()
    }
}
