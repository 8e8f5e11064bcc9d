import MediaEngineLogic
import SignalingProtocol
import SignalingWire
import Testing

@testable import MediaClient

/// Calls with a gateway that is the test.
@Suite struct CallDriverTests {
    private static func refused(_ code: Int, _ reason: String) -> MediaError {
        MediaError(code: code, reason: reason, message: "m")
    }

    /// A packet of a slot.
    private static func audio(_ ssrc: UInt32, speaker: UInt32) throws -> MediaPath.Arrival {
        let bytes = [0x81, 111, 0, 1, 0, 0, 0, 0] + SRTPHeader.bytes(ssrc) + SRTPHeader.bytes(speaker) + [9]
        return .audio(try #require(AudioDatagram(bytes, payloadType: 111)), size: bytes.count)
    }

    @Test func whoIsThereIsToldAfterTheFirstPacket() async throws {
        let scene = try await DriverScene()
        try await scene.on { _, control in try control.joined() }
        #expect(scene.events == [])
        try await scene.on { driver, _ in driver.receive(.sign(size: 1)) }
        #expect(scene.events == [.joined(uid: 7), .userJoined(MediaClient.MediaUser(uid: 8))])
        try await scene.end()
    }

    @Test func volumesComeAfterTheJoin() async throws {
        let scene = try await DriverScene()
        try await scene.on { driver, _ in
            driver.audio?.measureVolumes(every: .zero, smooth: 1, now: .now)
            driver.advance()
        }
        #expect(scene.events == [])
        try await scene.join()
        #expect(scene.events.contains(.volumes(MediaVolumes(speakers: [], total: 0))))
        try await scene.end()
    }

    /// The answer to a mute has the number of its change, so that the roster need not be asked for.
    @Test func anOwnMuteIsNoGap() async throws {
        let scene = try await DriverScene()
        try await scene.join(n: 10)
        try await scene.on { driver, control in
            driver.set(.audioMuted, true)
            #expect(control.count(.mute) == 1)
            try control.answer(.mute, #"{"result":"ok","n":11}"#)
            control.member(9, n: 12)
            #expect(control.count(.resume) == 0)
        }
        #expect(scene.events.last == .userJoined(MediaClient.MediaUser(uid: 9)))
        // A gateway or a node of the release before names none.
        try await scene.on { driver, control in
            driver.set(.audioMuted, false)
            try control.answer(.mute, #"{"result":"ok"}"#)
            control.member(10, n: 14)
            #expect(control.count(.resume) == 1)
        }
        try await scene.end()
    }

    /// The answer to a mute of the participant before says nothing about the roster of now.
    @Test func aMuteThatIsAnsweredAfterAnotherJoinCountsForNothing() async throws {
        let scene = try await DriverScene()
        try await scene.join(n: 10)
        try await scene.on { driver, control in
            driver.set(.audioMuted, true)
            control.tell(.gone(reason: "closed", participant: "p"))
            try control.joined(n: 100, node: "other", pid: "q")
            try control.answer(.mute, #"{"result":"ok","n":101}"#)
            #expect(driver.roster?.n == 100)
            #expect(control.count(.resume) == 0)
        }
        try await scene.end()
    }

    @Test func theRosterIsAskedForOnceAtATime() async throws {
        let scene = try await DriverScene()
        try await scene.join(n: 10)
        try await scene.on { _, control in
            control.member(9, n: 12)
            control.member(10, n: 14)
            #expect(control.count(.resume) == 1)
            // The copy was made before the latest change: it is asked for again, and then no more.
            try control.answer(.resume, #"{"result":"ok","n":13,"users":[[8,0,1],[7,0,1],[9,0,1]]}"#)
            #expect(control.count(.resume) == 2)
            try control.answer(.resume, #"{"result":"ok","n":14,"users":[[8,0,1],[7,0,1],[9,0,1],[10,0,1]]}"#)
            #expect(control.count(.resume) == 2)
        }
        #expect(
            scene.events.suffix(2) == [
                .userJoined(MediaClient.MediaUser(uid: 9)), .userJoined(MediaClient.MediaUser(uid: 10)),
            ])
        try await scene.end()
    }

    /// An event that was lost is noticed by the next statistics, also when nothing else happens.
    @Test func statisticsTellThatSomethingIsMissing() async throws {
        let scene = try await DriverScene()
        try await scene.join(n: 10)
        try await scene.on { _, control in
            control.tell(.uplinks([], n: 10, participant: "p"))
            control.tell(.uplinks([], n: nil, participant: "p"))
            #expect(control.count(.resume) == 0)
            control.tell(.uplinks([], n: 11, participant: "p"))
            #expect(control.count(.resume) == 1)
            try control.answer(.resume, #"{"result":"ok","n":11,"users":[[8,0,1],[7,0,1],[9,0,1]]}"#)
        }
        #expect(scene.events.last == .userJoined(MediaClient.MediaUser(uid: 9)))
        try await scene.end()
    }

    /// What failed is asked for again with the next gap; a participant that the node does not know joins anew.
    @Test func aRosterThatIsRefused() async throws {
        let scene = try await DriverScene()
        try await scene.join(n: 10)
        try await scene.on { _, control in
            control.member(9, n: 12)
            control.answer(.resume, .failure(.noAnswer))
            #expect(control.count(.join) == 1)
            control.member(9, n: 13)
            #expect(control.count(.resume) == 2)
            control.answer(.resume, .failure(Self.refused(3, "unknown_participant")))
            #expect(control.count(.join) == 2)
        }
        try await scene.end()
    }

    @Test(arguments: [
        (109, "key_expired", MediaClient.MediaEvent.keyExpired),
        (110, "wrong_key", .keyRefused(refused(110, "wrong_key"))),
        (110, "malformed_key", .keyRefused(refused(110, "malformed_key"))),
        (110, "key_required", .keyRefused(refused(110, "key_required"))),
    ])
    func aRejoinWhoseKeyIsRefusedWaitsForAnother(_ code: Int, _ reason: String, _ told: MediaClient.MediaEvent)
        async throws
    {
        let scene = try await DriverScene()
        try await scene.join()
        try await scene.on { driver, control in
            control.tell(.gone(reason: "closed", participant: "p"))
            #expect(control.count(.join) == 2)
            control.answer(.join, .failure(Self.refused(code, reason)))
            #expect(driver.phase == .awaitingKey)
        }
        #expect(scene.events.last == told)
        try await scene.on { driver, control in
            driver.renew(key: "another")
            #expect(control.calls.last?.call.arguments.contains { $0.value.string == "another" } == true)
            try control.joined()
            driver.receive(.sign(size: 1))
            #expect(driver.phase == .joined)
        }
        #expect(scene.events.contains(.keyRenewed))
        try await scene.end()
    }

    /// At the first join there is nothing to wait for: the call is over.
    @Test func aFirstJoinWhoseKeyIsRefusedEndsTheCall() async throws {
        let scene = try await DriverScene()
        let error = Self.refused(109, "key_expired")
        try await scene.on { _, control in control.answer(.join, .failure(error)) }
        #expect(scene.events == [.ended(error, MediaStatistics())])
    }

    /// A stream on another path has other numbers, also when its speaker and its slot are those of before.
    @Test func whoSpokeOnAPathIsForgottenWithIt() async throws {
        let scene = try await DriverScene()
        try await scene.join()
        try await scene.on { driver, control in
            driver.receive(try Self.audio(2001, speaker: 8))
            #expect(driver.slotSpeakers == [2001: 8])
            control.tell(.gone(reason: "closed", participant: "p"))
            try control.joined(slots: [3001])
            #expect(driver.slotSpeakers == [:])
            driver.receive(try Self.audio(3001, speaker: 8))
            #expect(driver.slotSpeakers == [3001: 8])
            // The others were told that the client has dropped: no path is left.
            control.tell(.gone(reason: "key", participant: "p"))
            #expect(driver.slotSpeakers == [:] && driver.path == nil)
        }
        try await scene.end()
    }
}
