import MediaEngineLogic
import SignalingProtocol
import SignalingWire
import Testing

@testable import MediaClient

@Suite struct ControlMessageTests {
    private func read(_ text: String) throws -> ControlMessage { try ControlMessage(decoding: text.utf8) }

    @Test func hello() throws {
        #expect(
            try read(#"["media_hello_ret",["","{\"result\":\"ok\",\"line\":\"abc\"}"]]"#) == .hello(.success("abc")))
        let refused =
            #"["media_hello_ret",["unknown_app","{\"result\":\"failed\",\"reason\":\"unknown_app\",\"code\":101,\"message\":\"none\"}"]]"#
        #expect(
            try read(refused)
                == .hello(.failure(MediaError(code: 101, reason: "unknown_app", message: "none"))))
    }

    @Test func anAnswerThatRefusesKeepsItsCode() throws {
        let text = #"["call2-ret",[3,"key_expired","{\"result\":\"failed\",\"code\":109,\"message\":\"m\"}"]]"#
        #expect(
            try read(text) == .answer(id: 3, .failure(MediaError(code: 109, reason: "key_expired", message: "m"))))
    }

    @Test func events() throws {
        func event(_ members: String) throws -> ControlMessage {
            try read(#"["notify",["media",{"channel":"c","pid":"p","# + members + "}]]")
        }
        #expect(
            try event(#""t":"joined","n":5,"uid":9,"flags":1"#)
                == .event(.member(RosterMember(uid: 9, flags: .audioMuted), n: 5, participant: "p")))
        #expect(
            try event(#""t":"left","n":6,"uid":9,"reason":"dropped""#)
                == .event(.left(uid: 9, .dropped, n: 6, participant: "p")))
        #expect(
            try event(#""t":"left","n":6,"uid":9,"reason":"replaced""#)
                == .event(.left(uid: 9, .quit, n: 6, participant: "p")))
        #expect(
            try event(#""t":"stats","users":[[8,21,3],[9],"x",[7,-1,200]]"#)
                == .event(
                    .uplinks(
                        [.init(uid: 8, delay: 21, loss: 3), .init(uid: 7, delay: 0, loss: 100)], n: nil,
                        participant: "p")))
        #expect(try event(#""t":"stats","n":6,"users":[]"#) == .event(.uplinks([], n: 6, participant: "p")))
        #expect(try event(#""t":"gone","reason":"replaced""#) == .event(.gone(reason: "replaced", participant: "p")))
        // Of a later version, and without what it must have.
        #expect(try event(#""t":"picture""#) == .unknown)
        #expect(try event(#""t":"joined","n":5,"uid":-1,"flags":1"#) == .unknown)
    }

    @Test(arguments: [
        "", "[]", "{}", "[1,2]", #"["call2-ret",[1,""]]"#, #"["call2-ret",["x","","{}"]]"#, #"["media_hello_ret",""]"#,
        #"["media_hello_ret",["","no json"]]"#, #"["notify",["media"#,
    ])
    func whatIsNoFrameIsRefused(_ text: String) {
        #expect(throws: (any Error).self) { try read(text) }
    }

    private static let join =
        #"{"result":"ok","uid":7,"pid":"p","secret":"s","node":"m","epoch":1,"n":4,"expiry":0,"users":[[8,0,61000],[7,1,0]],"#
        + #""candidates":[["tcp","192.0.2.9",1],["udp","192.0.2.1",7000]],"ufrag":"u","pwd":"w","pub":"k","#
        + #""suite":"AEAD_AES_128_GCM","ssrcs":{"audio":1001},"slots":{"audio":[2001,2002]},"pts":{"opus":111}}"#

    @Test func anAnswerToAJoin() throws {
        let answer = try JoinAnswer(JSONValue.parse(Self.join.utf8))
        #expect(answer.uid == 7)
        #expect(answer.roster.members == [RosterMember(uid: 8, flags: []), RosterMember(uid: 7, flags: .audioMuted)])
        #expect(answer.transport.host == "192.0.2.1")
        #expect(answer.transport.port == 7000)
        #expect(answer.transport.slots == [2001, 2002])
        #expect(answer.transport.payloadType == 111)
    }

    @Test(arguments: [
        ("\"uid\":7,", ""), ("\"AEAD_AES_128_GCM\"", "\"NULL\""), ("7000", "70000"), ("\"opus\":111", "\"opus\":128"),
        ("\"udp\"", "\"x\""), ("[2001,2002]", "[" + (0...16).map(String.init).joined(separator: ",") + "]"),
        ("\"users\":[[8,0,61000],[7,1,0]],", ""), ("\"ssrcs\":{\"audio\":1001}", "\"ssrcs\":[]"),
    ])
    func anAnswerThatCannotBeUsedIsRefused(_ part: String, _ other: String) throws {
        let text = Self.join.split(separator: part, omittingEmptySubsequences: false).joined(separator: other)
        #expect(text != Self.join)
        let json = try JSONValue.parse(text.utf8)
        #expect(throws: MediaError.badAnswer) { try JoinAnswer(json) }
    }
}
