import BusProtocol
import SignalingProtocol
import Testing

@testable import SignalingTokens

@Suite struct APIKeyTextTests {
    private func record(of text: APIKeyText) -> APIKey {
        APIKey(id: text.id, digest: text.digest, app: nil, scopes: APIScopes([.read]), requestsPerSecond: 1)
    }

    @Test func aKeyIsReadAndMatchesItsRecordOnly() throws {
        let key = APIKeyText.random()
        let read = try #require(APIKeyText(key.text))
        #expect(read == key)
        #expect(read.matches(record(of: key)))
        #expect(!read.matches(record(of: .random())))
        #expect(!read.matches(nil))
        var other = record(of: key)
        other.digest = APIKeyText.random().digest
        #expect(!read.matches(other))
        // The secret is not part of what is stored.
        #expect(!key.text.contains(key.digest))
    }

    @Test(arguments: [
        "", "hk_", "hk__", "hk_0123456789abcdef_", "hk_0123456789ABCDEF_\(String(repeating: "a", count: 64))",
    ])
    func otherTextsAreNone(_ text: String) {
        #expect(APIKeyText(text) == nil)
        #expect(APIKeyText(APIKeyText.random().text + text + "0") == nil)
    }

    @Test func scopesAreWords() {
        #expect(APIScopes([.admin, .read]).text == "read admin")
        #expect(APIScopes(text: "send newer").words == ["send"])
    }
}
