import CFuzz
import CRe
import Pacing
import SIPBridgeLogic
import SignalingProtocol

@testable import SIPBridgeServer

extension FuzzTarget {
    /// Messages from telephones, trunks and strangers to a sip-bridge.
    static let sip = [
        FuzzTarget("sip-message") { input in
            _ = SIPCallIDScan.callID(in: input.bytes)
            _ = SIPTraceText.redacted(input.text)
            guard let decoded = cre_message_decode(input.bytes, input.bytes.count) else { return }
            defer { cre_message_free(decoded) }
            cfuzz_dialog(decoded)
            let message = SIPMessage(decoded)
            holds(message.body.count <= message.receivedBodyBytes, "a body is not longer than what came")
            _ = SIPScreening.verdict(on: message)
            _ = IncomingHeaders(message.headers)
            _ = message.tokens("Require")
            var digits = DTMFInfoReceiver()
            _ = digits.receive(contentType: message.header("Content-Type") ?? "", body: message.body)
            var server = DigestServer(realm: "realm", secret: "secret")
            let verdict = server.check(message, now: LocalTime(milliseconds: 1000)) { _ in "password" }
            if case .accepted = verdict { fatalError("does not hold: nobody knows the password") }
        },
        FuzzTarget("sdp") { input in
            let (how, rest) = input.split
            describe(rest.bytes, isOffer: how & 1 == 0, profiles: UInt32(how >> 1 & 3))
        },
        FuzzTarget("rtp") { input in
            let (how, rest) = input.split
            // One receiver sees all the packets of a call.
            var receiver = DTMFReceiver()
            withUnsafeMutablePointer(to: &receiver) { receiver in
                for datagram in rest.bytes.split(separator: 0xFF, maxSplits: 7, omittingEmptySubsequences: false) {
                    datagram.withUnsafeBufferPointer { bytes in
                        cfuzz_rtp(
                            UInt32(how), bytes.baseAddress, bytes.count,
                            { payload, count, _, timestamp, context in
                                guard let receiver = context?.assumingMemoryBound(to: DTMFReceiver.self),
                                    let packet = DTMFPacket(UnsafeBufferPointer(start: payload, count: count))
                                else { return }
                                _ = receiver.pointee.receive(packet, source: 1, timestamp: timestamp)
                            }, receiver)
                    }
                }
            }
        },
        FuzzTarget("digest") { input in
            let texts = input.texts(3)
            var client = DigestClient(credentials: DigestCredentials(username: texts[1], password: "secret"))
            for status in [401, 407] {
                let name = status == 401 ? "WWW-Authenticate" : "Proxy-Authenticate"
                let fields = "\(name): \(texts[0].filter { !$0.isNewline })\r\n"
                guard let response = message(Array("SIP/2.0 \(status) No\r\n\(required)\(fields)\r\n".utf8)) else {
                    continue
                }
                guard client.challenged(by: response) else { continue }
                for field in client.headers(method: "INVITE", uri: "sip:a@b", cnonce: "c") {
                    holds(field.value.hasPrefix("Digest "), "an answer is of the challenge's scheme")
                    holds(!field.value.utf8.contains(10) && !field.value.utf8.contains(13), "an answer is one line")
                    holds(!field.value.contains("secret") || input.text.contains("secret"), "an answer tells no secret")
                }
            }
        },
        FuzzTarget("phone") { input in
            let text = input.text
            if let digits = try? DTMFDigits(text) { holds(text.utf8.count >= 1, "no digits are none: \(digits)") }
            if let target = PhoneTarget(callee: text) { _ = target }
            _ = PhoneCaller.user(of: text)
            _ = PhoneCaller.spellings(ofCalled: text)
            let names = HostNames(hostsFile: text)
            _ = names.replaced(in: text)
            if let crypto = MediaCrypto(text) { holds(crypto.key.count == MediaCrypto.keyBytes, "a key is whole") }
            _ = CallExtraJSON.digits(text)
            _ = CallExtraJSON.code(text)
            var receiver = DTMFInfoReceiver()
            for type in ["application/dtmf-relay", "application/dtmf"] {
                _ = receiver.receive(contentType: type, body: input.bytes)
            }
            let texts = input.texts(2)
            var headers = OutgoingHeaders()
            if (try? headers.add(name: texts[0], value: texts[1])) != nil {
                let line = headers.fields.map { "\($0.name): \($0.value)" }.joined()
                holds(!line.utf8.contains { $0 == 10 || $0 == 13 || $0 == 0 }, "a header is one line")
            }
        },
    ]

    private static let required =
        "Via: SIP/2.0/UDP a;branch=z9hG4bKx\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:c@d>\r\n"
        + "Call-ID: x\r\nCSeq: 1 INVITE\r\n"

    /// The message that libre parses from a datagram.
    private static func message(_ bytes: [UInt8]) -> SIPMessage? {
        guard let decoded = cre_message_decode(bytes, bytes.count) else { return nil }
        defer { cre_message_free(decoded) }
        return SIPMessage(decoded)
    }

    private static func describe(_ bytes: [UInt8], isOffer: Bool, profiles: UInt32) {
        "127.0.0.1".withCString { address in
            var local = cre_sdp_local(
                address: address, port: 4000, profiles: profiles == 0 ? 3 : profiles, event_payload_type: 101)
            var opened: OpaquePointer?
            guard cre_sdp_open(&opened, &local) == 0, let description = opened else {
                fatalError("does not hold: a description can be made")
            }
            defer { cre_sdp_close(description) }
            var answer = [UInt8](repeating: 0, count: 2048)
            var count = 0
            if !isOffer { _ = cre_sdp_encode(description, true, &answer, answer.count, &count) }
            guard cre_sdp_decode(description, bytes, bytes.count, isOffer) == 0 else { return }
            var remote = cre_sdp_remote()
            guard cre_sdp_get_remote(description, &remote) == 0 else { return }
            holds((-1...127).contains(remote.audio_payload_type), "a payload type has seven bits")
            cre_sdp_each_crypto(
                description, { value, _ in if let value { _ = MediaCrypto(String(cString: value)) } }, nil)
            if isOffer { _ = cre_sdp_encode(description, false, &answer, answer.count, &count) }
            holds(count <= answer.count, "a description fits")
        }
    }
}
