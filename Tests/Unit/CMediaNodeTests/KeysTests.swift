import CMedia
import CMediaNode
import Testing

@Suite struct KeysTests {
    private func shared(_ privateKey: [UInt8], _ peerKey: [UInt8]) -> [UInt8]? {
        var secret = [UInt8](repeating: 0xEE, count: 32)
        return cm_x25519(&secret, privateKey, peerKey) ? secret : nil
    }

    private func hkdf(_ count: Int, _ secret: [UInt8], salt: [UInt8], info: [UInt8]) -> [UInt8]? {
        var out = [UInt8](repeating: 0xEE, count: max(count, 1))
        let isDone = withBytes(secret) { secret in
            withBytes(salt) { salt in withBytes(info) { cm_hkdf_sha256(&out, count, secret, salt, $0) } }
        }
        return isDone ? out : nil
    }

    /// RFC 7748, section 6.1.
    @Test func sharedSecretsAreThoseOfTheVectors() {
        let alice = hex("77076d0a7318a57d3c16c17251b26645 df4c2f87ebc0992ab177fba51db92c2a")
        let alicesKey = hex("8520f0098930a754748b7ddcb43ef75a 0dbf3a0d26381af4eba4a98eaa9b4e6a")
        let bob = hex("5dab087e624a8a4b79e17f8b83800ee6 6f3bb1292618b6fd1c2f8b27ff88e0eb")
        let bobsKey = hex("de9edb7d7b7dc1b4d35b61c2ece43537 3f8343c85b78674dadfc7e146f882b4f")
        let secret = hex("4a5d9d5ba4ce2de1728e3bf480350f25 e07e21c947d19e3376f09b3c1e161742")
        #expect(shared(alice, bobsKey) == secret)
        #expect(shared(bob, alicesKey) == secret)
    }

    @Test func aKeyOfLowOrderIsRefused() {
        let mine = [UInt8](repeating: 9, count: 32)
        #expect(shared(mine, [UInt8](repeating: 0, count: 32)) == nil)
        #expect(shared(mine, [1] + [UInt8](repeating: 0, count: 31)) == nil)
        #expect(shared(mine, hex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800")) == nil)
    }

    /// RFC 5869, appendix A.1, A.2 (its first bytes) and A.3.
    @Test func keysAreExpandedAsInTheVectors() {
        let okm = hex("3cb25f25faacd57a90434f64d0362f2a 2d2d0a90cf1a5a4c5db02d56ecc4c5bf 34007208d5b887185865")
        #expect(
            hkdf(42, [UInt8](repeating: 0x0B, count: 22), salt: Array(0...12), info: Array(0xF0...0xF9)) == okm)
        let long = hkdf(82, Array(0...0x4F), salt: Array(0x60...0xAF), info: Array(0xB0...0xFF))
        #expect(
            long.map { Array($0[..<32]) } == hex("b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"))
        let bare = hex("8da4e775a563c18f715f802a063c5a31 b8a11f5c5ee1879ec3454e5f3c738d2d 9d201395faa4b61a96c8")
        #expect(hkdf(42, [UInt8](repeating: 0x0B, count: 22), salt: [], info: []) == bare)
        #expect(hkdf(0, [1], salt: [], info: []) == nil)
        #expect(hkdf(Int(CM_HKDF_MAX) + 1, [1], salt: [], info: []) == nil)
    }

    /// RFC 2202, cases 1 and 2.
    @Test func codesAreThoseOfTheVectors() {
        var code = [UInt8](repeating: 0, count: 20)
        let (key, text) = ([UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8))
        #expect(cm_hmac_sha1(key, key.count, text, text.count, &code))
        #expect(code == hex("b617318655057264e28bc0b6fb378c8ef146be00"))
        let (other, question) = (Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
        #expect(cm_hmac_sha1(other, other.count, question, question.count, &code))
        #expect(code == hex("effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"))
    }

    private func derive(
        _ suite: Suite, _ pair: cm_key_pair, _ peer: cm_key_pair, _ participant: String
    ) -> (client: [UInt8], server: [UInt8])? {
        var (keys, pair) = (cm_media_keys(), pair)
        let peerKey = bytes(of: peer.public_key, 0..<32)
        let isDerived = withBytes(Array(participant.utf8)) { cm_keys_derive(&keys, suite.code, &pair, peerKey, $0) }
        guard isDerived, keys.suite == suite.code else { return nil }
        return (bytes(of: keys.client, 0..<30), bytes(of: keys.server, 0..<30))
    }

    @Test(arguments: Suite.allCases) func bothSidesHaveTheSameKeys(_ suite: Suite) throws {
        var (node, engine) = (cm_key_pair(), cm_key_pair())
        #expect(cm_key_pair_make(&node) && cm_key_pair_make(&engine))
        let one = try #require(derive(suite, node, engine, "participant"))
        let other = try #require(derive(suite, engine, node, "participant"))
        #expect(one == other)
        let size = cm_suite_size(suite.code)
        #expect(size == (suite == .gcm ? 28 : 30))
        #expect(one.client != one.server && one.client[size...].allSatisfy { $0 == 0 })
        let secret = try #require(shared(bytes(of: engine.private_key, 0..<32), bytes(of: node.public_key, 0..<32)))
        for (found, info) in [(one.client, "heliograph media client"), (one.server, "heliograph media server")] {
            let expected = hkdf(size, secret, salt: Array("participant".utf8), info: Array(info.utf8))
            #expect(Array(found[..<size]) == expected)
        }
        let stranger = try #require(derive(suite, node, engine, "another"))
        #expect(stranger.client != one.client, "the participant's id is the salt")
    }

    @Test func keysAreNewEachTime() {
        var (one, other) = (cm_key_pair(), cm_key_pair())
        #expect(cm_key_pair_make(&one) && cm_key_pair_make(&other))
        #expect(bytes(of: one.private_key, 0..<32) != bytes(of: other.private_key, 0..<32))
        withUnsafeMutableBytes(of: &one) { cm_forget($0.baseAddress, $0.count) }
        #expect(bytes(of: one, 0..<64).allSatisfy { $0 == 0 })
        var keys = cm_media_keys()
        let zero = [UInt8](repeating: 0, count: 32)
        #expect(withBytes([1]) { !cm_keys_derive(&keys, CM_SUITE_GCM_128, &other, zero, $0) })
        #expect(bytes(of: keys.client, 0..<30).allSatisfy { $0 == 0 })
    }
}
