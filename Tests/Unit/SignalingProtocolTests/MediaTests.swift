import SignalingProtocol
import Testing

/// The names of media channels, and the reasons and codes of refused media calls.
@Suite struct MediaTests {
    @Test func aNameHasTheCharactersOfTheDocuments() throws {
        let allowed = Set(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 !#$%&()+,-:;<=.>?@[]^_`{}|~".utf8)
        for byte in UInt8.min...UInt8(0x7F) {
            let text = String(decoding: [byte], as: UTF8.self)
            #expect(((try? MediaChannelName(text)) != nil) == allowed.contains(byte), "\(byte)")
        }
        for text in ["", "é", "a\u{0}", String(repeating: "a", count: 65)] {
            #expect(throws: MediaRefusal.invalidChannel) { try MediaChannelName(text) }
        }
        #expect(try MediaChannelName(String(repeating: "a", count: 64)).rawValue.utf8.count == 64)
    }

    @Test func eachReasonHasItsCode() {
        let codes = Dictionary(grouping: MediaRefusal.allCases, by: \.code).mapValues { Set($0.map(\.rawValue)) }
        #expect(
            codes == [
                2: ["invalid_uid", "invalid_args", "bad_offer"], 3: ["unknown_participant"], 4: ["unsupported_media"],
                5: ["refused"], 12: ["rate_limited"], 17: ["channel_full"], 101: ["unknown_app"],
                102: ["invalid_channel"], 103: ["no_node"], 104: ["node_unreachable"], 107: ["draining"],
                109: ["key_expired"], 110: ["key_required", "malformed_key", "wrong_key"],
            ])
    }

    @Test func refusalsTravelAsErrors() {
        for refusal in MediaRefusal.allCases { #expect(MediaRefusal(refusal.error) == refusal) }
        #expect(MediaRefusal(.timeout()) == .nodeUnreachable)
        #expect(MediaRefusal(.unavailable("redis")) == .noNode)
        #expect(MediaRefusal(.memoryFull) == .noNode)
    }
}
