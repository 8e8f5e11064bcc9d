import Testing

@testable import SIPBridgeLogic

@Suite("SRTP keys in the SDP")
struct MediaCryptoTests {
    /// The example of RFC 4568 section 6.1.
    private let example = "inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj"

    @Test("An a=crypto line is parsed and written")
    func roundTrip() throws {
        let crypto = try #require(MediaCrypto("7 AES_CM_128_HMAC_SHA1_80 \(example)|2^20"))
        #expect(crypto.tag == 7)
        #expect(crypto.key == Array("wDfvg&T+)xG7@fb5jU,RaA}\\|p0%*#".utf8))
        #expect(crypto.value == "7 AES_CM_128_HMAC_SHA1_80 \(example)")
        #expect(MediaCrypto("1 AES_CM_128_HMAC_SHA1_80 \(example) WSH=64")?.tag == 1)
    }

    @Test("Session parameters and suites that are not supported are refused")
    func refused() {
        let suite = "AES_CM_128_HMAC_SHA1_80"
        for value in [
            "", "1", "1 \(suite)", "x \(suite) \(example)", "-1 \(suite) \(example)",
            "1 AES_CM_128_HMAC_SHA1_32 \(example)",
            "1 \(suite) \(example)|2^20|1:4", "1 \(suite) \(example)|1:4", "1 \(suite) \(example);\(example)",
            "1 \(suite) \(example) UNENCRYPTED_SRTP", "1 \(suite) \(example) KDR=1", "1 \(suite) inline:d0Rm",
            "1 \(suite) inline:d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSo?", "1 \(suite) uri:x",
        ] { #expect(MediaCrypto(value) == nil, "\(value)") }
    }

    @Test("Every new key is different")
    func fresh() {
        #expect(MediaCrypto.fresh() != MediaCrypto.fresh())
        #expect(MediaCrypto(MediaCrypto.fresh().value) != nil)
    }
}
