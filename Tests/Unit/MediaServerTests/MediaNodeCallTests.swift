import BusProtocol
import CMediaNode
import SignalingProtocol
import TestKit
import Testing

@testable import MediaServer

/// Calls about participants, the ends of keys, and statistics.
@Suite struct MediaNodeCallTests {
    private static let all = UInt32(CM_MAY_HEAR | CM_MAY_SEND_AUDIO)
    private let served = ServedNode()
    private let id = MediaNodeID("node")

    /// - Returns: the number of the change.
    @discardableResult
    private func mute(_ node: MediaNode, _ pid: String, _ change: MediaMute, gateway: Int = 0) async throws -> Int64? {
        let command = MuteMedia(to: id, channel: ServedNode.key, participant: ParticipantID(pid), change: change)
        return try await node.mute(command, asker: ServedNode.gateways[gateway]).n
    }

    private func resume(_ node: MediaNode, _ pid: String, _ secret: String, gateway: Int) async throws -> MediaResumed {
        let command = ResumeMedia(to: id, channel: ServedNode.key, participant: ParticipantID(pid), secret: secret)
        return try await node.resume(command, asker: ServedNode.gateways[gateway])
    }

    private func restart(
        _ node: MediaNode, _ command: RestartMedia, _ id: CommandID = CommandID("c"), gateway: Int = 0
    ) async throws -> MediaRestarted {
        try await node.restart(command, id, asker: ServedNode.gateways[gateway])
    }

    /// The command to restart a participant.
    private func of(_ pid: String, _ secret: String, _ transport: MediaTransportOffer = .engine) -> RestartMedia {
        RestartMedia(
            to: id, channel: ServedNode.key, participant: ParticipantID(pid), secret: secret, transport: transport)
    }

    @Test func aMuteIsToldToTheOthersAndTheLoop() async throws {
        let node = served.node()
        try await node.join("anna", uid: 1)
        try await node.join("bert", uid: 2, gateway: 1)
        _ = served.told()
        #expect(try await mute(node, "anna", MediaMute(audio: true)) == 1_000_003)
        #expect(served.told() == ["gateway-2 bert: state 1 1 n1000003"])
        #expect(served.allowed(0) == UInt32(CM_MAY_HEAR))
        // Nothing changes, so nobody is told.
        #expect(try await mute(node, "anna", MediaMute(audio: true)) == nil)
        #expect(served.told() == [])
        try await mute(node, "anna", MediaMute(audio: false, video: true, enabled: true))
        #expect(served.told() == ["gateway-2 bert: state 1 6 n1000004"])
        #expect(served.allowed(0) == Self.all)
        #expect(try await node.join("carl", uid: 3).users.map(\.flags.rawValue) == [6, 0, 0])
    }

    @Test func onlyTheGatewayThatHasAParticipantMayCallForIt() async throws {
        let node = served.node()
        try await node.join("anna", uid: 1)
        await #expect(throws: MediaRefusal.unknownParticipant) {
            try await mute(node, "anna", MediaMute(audio: true), gateway: 1)
        }
        await #expect(throws: MediaRefusal.unknownParticipant) { try await node.leave("anna", gateway: 1) }
        let renewal = RenewMedia(to: id, channel: ServedNode.key, participant: ParticipantID("anna"), expiry: 0)
        await #expect(throws: MediaRefusal.unknownParticipant) {
            try await node.renew(renewal, asker: ServedNode.gateways[1])
        }
    }

    @Test func aResumeMovesAParticipantsEvents() async throws {
        let node = served.node()
        let anna = try await node.join("anna", uid: 0)
        served.pass(.milliseconds(1))
        try await node.join("bert", uid: 2) { $0.flags = .audioMuted }
        _ = served.told()
        served.pass(.milliseconds(49))
        let resumed = try await resume(node, "anna", anna.secret, gateway: 1)
        #expect(resumed.keyUID == 0 && resumed.n == 1_000_002)
        #expect(
            resumed.users == [
                MediaUser(uid: anna.uid, flags: [], age: 50), MediaUser(uid: 2, flags: .audioMuted, age: 49),
            ])
        try await mute(node, "bert", MediaMute(audio: false))
        #expect(served.told() == ["gateway-2 anna: state 2 0 n1000003"])
        // The gateway that had it may no longer call for it.
        await #expect(throws: MediaRefusal.unknownParticipant) { try await node.leave("anna") }
        try await node.leave("anna", gateway: 1)
        for secret in ["", "x", anna.secret] {
            await #expect(throws: MediaRefusal.unknownParticipant) {
                try await resume(node, "anna", secret, gateway: 0)
            }
        }
    }

    @Test func aRestartKeepsTheSlotsOfAnEngine() async throws {
        let node = served.node()
        let anna = try await node.join("anna", uid: 1)
        try await node.join("bert", uid: 2)
        _ = served.told()
        let before = try #require(anna.engine)
        let restarted = try await restart(node, of("anna", anna.secret), gateway: 1)
        guard case .engine(let after) = restarted.transport else { return #expect(Bool(false), "no engine") }
        #expect(restarted.keyUID == 1)
        #expect(after.audioSlots == before.audioSlots && after.audioSource == before.audioSource)
        #expect(after.ufrag != before.ufrag && after.password != before.password)
        #expect(after.publicKey != before.publicKey)
        #expect(served.restarted.count == 1 && served.told() == [])
        // Delivered again.
        #expect(try await restart(node, of("anna", anna.secret), gateway: 1) == restarted)
        #expect(served.restarted.count == 1)
        #expect(try await restart(node, of("anna", anna.secret), CommandID("d"), gateway: 1) != restarted)
        // It is bound to the gateway that asked.
        try await mute(node, "bert", MediaMute(audio: true))
        #expect(served.told() == ["gateway-2 anna: state 2 1 n1000003"])
    }

    @Test func aRestartKeepsTheSlotsOfAPage() async throws {
        let node = served.node()
        let anna = try await node.join("anna") { $0.transport = .web(offer: ChromiumOffer.text) }
        let restarted = try await restart(node, of("anna", anna.secret, .web(offer: ChromiumOffer.text)))
        guard case .web(let answer) = restarted.transport, let before = anna.page else {
            return #expect(Bool(false), "no page")
        }
        func lines(_ text: String, _ start: String) -> [Substring] {
            text.split(separator: "\r\n").filter { $0.hasPrefix(start) }
        }
        #expect(lines(answer, "a=ssrc:") == lines(before, "a=ssrc:") && !lines(answer, "a=ssrc:").isEmpty)
        #expect(lines(answer, "a=ice-ufrag:") != lines(before, "a=ice-ufrag:"))
        #expect(lines(answer, "a=mid:") == lines(before, "a=mid:"))
        let settings = try #require(served.restarted.first)
        let slots = served.opened[0].settings.slots
        #expect(settings.mids.0.size == slots.0.mid_size && settings.mids.5.size == slots.5.mid_size)
    }

    @Test func aRestartOfAnotherKindIsRefused() async throws {
        let node = served.node()
        let anna = try await node.join("anna")
        let bert = try await node.join("bert") { $0.transport = .web(offer: ChromiumOffer.text) }
        await #expect(throws: MediaRefusal.invalidArguments) {
            try await restart(node, of("anna", anna.secret, .web(offer: ChromiumOffer.text)))
        }
        await #expect(throws: MediaRefusal.invalidArguments) { try await restart(node, of("bert", bert.secret)) }
        await #expect(throws: MediaRefusal.badOffer) {
            try await restart(node, of("bert", bert.secret, .web(offer: "v=0\r\n")))
        }
        await #expect(throws: MediaRefusal.unknownParticipant) { try await restart(node, of("anna", bert.secret)) }
        #expect(served.restarted.isEmpty)
    }

    @Test func aRestartThatFailsChangesNothing() async throws {
        let node = served.node()
        let anna = try await node.join("anna", uid: 1)
        try await node.join("bert", uid: 2)
        _ = served.told()
        served.fail(12)
        await #expect(throws: MediaRefusal.refused) { try await restart(node, of("anna", anna.secret), gateway: 1) }
        served.fail(0)
        // It is bound to the gateway that had it.
        try await mute(node, "bert", MediaMute(audio: true))
        #expect(served.told() == ["gateway-1 anna: state 2 1 n1000003"])
        _ = try await restart(node, of("anna", anna.secret), gateway: 1)
        #expect(served.restarted.count == 2)
    }

    // MARK: - Keys

    private func node(withKeysFor seconds: Int64) async throws -> MediaNode {
        let node = served.node()
        for (pid, uid, expiry) in [("anna", UInt32(1), 1_800_000_000 + seconds), ("bert", 2, 0)] {
            let join = JoinMedia(
                to: id, channel: ServedNode.key, participant: ParticipantID(pid), uid: uid, call: pid, expiry: expiry,
                transport: .engine)
            _ = try await node.join(join, asker: ServedNode.gateways[0])
        }
        _ = served.told()
        return node
    }

    private func renew(_ node: MediaNode, until expiry: Int64) async throws {
        let command = RenewMedia(to: id, channel: ServedNode.key, participant: ParticipantID("anna"), expiry: expiry)
        try await node.renew(command, asker: ServedNode.gateways[0])
    }

    @Test func aKeyThatEndsSilencesAtOnceAndEndsAfterFifteenSeconds() async throws {
        let node = try await node(withKeysFor: 10)
        served.pass(.seconds(9))
        await node.checkKeys()
        #expect(served.told() == [] && served.allowed(0) == nil)
        served.pass(.seconds(1))
        await node.checkKeys()
        #expect(served.told() == ["gateway-1 anna: key"])
        #expect(served.allowed(0) == 0)
        // A mute changes nothing for the loop.
        try await mute(node, "anna", MediaMute(audio: true))
        #expect(served.told() == ["gateway-1 bert: state 1 1 n1000003"] && served.allowed(0) == 0)
        served.pass(.seconds(14))
        await node.checkKeys()
        #expect(served.told() == [] && served.closed == [])
        served.pass(.seconds(1))
        await node.checkKeys()
        #expect(
            Set(served.told()) == ["gateway-1 bert: left 1 dropped n1000004", "gateway-1 anna last: gone key"])
        #expect(served.closed == [served.opened[0].settings.id])
        served.pass(.seconds(100))
        await node.checkKeys()
        #expect(served.told() == [])
    }

    @Test func aNewKeyInTimeIsToldToNobody() async throws {
        let node = try await node(withKeysFor: 1)
        served.pass(.seconds(1))
        await node.checkKeys()
        #expect(served.told() == ["gateway-1 anna: key"])
        served.pass(.seconds(14))
        try await renew(node, until: 1_800_000_100)
        #expect(served.allowed(0) == Self.all)
        served.pass(.seconds(10))
        await node.checkKeys()
        #expect(served.told() == [] && served.closed == [])
        // Before its end, and without one.
        try await renew(node, until: 0)
        served.pass(.seconds(1000))
        await node.checkKeys()
        #expect(served.told() == [])
    }

    // MARK: - Statistics

    @Test func statisticsAreOfTheTimeSinceTheLast() async throws {
        let node = served.node()
        try await node.join("anna", uid: 1)
        try await node.join("bert", uid: 2) { $0.flags = .audioMuted }
        try await node.join("carl", uid: 3)
        _ = served.told()
        await node.tellStatistics()
        #expect(served.told() == [])
        served.count(0, MediaUplinkCounts(expected: 100, received: 90, roundTrip: .milliseconds(41)))
        served.count(1, MediaUplinkCounts(expected: 100, received: 90))
        await node.tellStatistics()
        #expect(served.told() == ["gateway-1 anna,bert,carl: stats 1:20ms:10% n1000003"])
        served.count(0, MediaUplinkCounts(expected: 200, received: 191, roundTrip: .milliseconds(60)))
        served.count(2, MediaUplinkCounts(expected: 3, received: 1))
        await node.tellStatistics()
        #expect(served.told() == ["gateway-1 anna,bert,carl: stats 1:30ms:0% 3:0ms:67% n1000003"])
        await node.tellStatistics()
        #expect(served.told() == [])
        // Nobody sends: by the number alone they find out that they have missed something.
        await node.tellStatistics()
        #expect(served.told() == ["gateway-1 anna,bert,carl: stats n1000003"])
    }
}
