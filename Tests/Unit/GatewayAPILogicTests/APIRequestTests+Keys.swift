import BusProtocol
import SignalingProtocol
import Testing

@testable import GatewayAPILogic

/// Keys of the server API itself.
extension APIRequestTests {
    private func created(
        _ app: AppID?, _ scopes: [APIScope] = [.read, .send], rate: Int = 1000, seconds: Int? = nil, note: String = ""
    ) -> APIAct {
        .keys(
            .create(
                NewAPIKey(
                    app: app, scopes: APIScopes(scopes), requestsPerSecond: rate, seconds: seconds, note: note)))
    }

    @Test func keysAreMadeListedAndRevoked() throws {
        let app = try AppID("a")
        #expect(try act("POST", "/v1/keys", #"{"app": "a"}"#) == created(app))
        #expect(try act("POST", "/v1/keys", #"{"cluster": true, "scopes": ["admin"]}"#) == created(nil, [.admin]))
        #expect(
            try act("POST", "/v1/keys", #"{"app": "a", "requestsPerSecond": 1, "ttl": 60, "note": "n"}"#)
                == created(app, rate: 1, seconds: 60, note: "n"))
        #expect(try act("GET", "/v1/keys") == .lists(.page(ListRecords(.keys, limit: 100))))
        #expect(
            try act("GET", "/v1/keys?app=a&limit=2&after=0f")
                == .lists(.page(ListRecords(.keys, app: app, after: "0f", limit: 2))))
        #expect(try act("DELETE", "/v1/keys/0123456789abcdef") == .keys(.revoke("0123456789abcdef")))
    }

    @Test func onlyKeysOfTheClusterMakeKeys() {
        let found = APIOperation.all.filter { $0.template.hasPrefix("/v1/keys") }
        #expect(found.map(\.scope) == [.read, .admin, .admin] && found.allSatisfy(\.needsClusterKey))
        // An answer with a secret is never kept for repetitions.
        #expect(found.map(\.isWrite) == [false, false, true])
    }

    @Test(arguments: [
        ("{}", "app"), (#"{"app": "a", "cluster": true}"#, "cluster"), (#"{"cluster": false}"#, "cluster"),
        (#"{"app": ""}"#, "app"), (#"{"app": null}"#, "app"), (#"{"app": "a", "scopes": []}"#, "scopes"),
        (#"{"app": "a", "scopes": ["read", "read"]}"#, "scopes[1]"), (#"{"app": "a", "scopes": ["x"]}"#, "scopes[0]"),
        (#"{"app": "a", "scopes": ["read", "send", "admin", "read"]}"#, "scopes"),
        (#"{"app": "a", "requestsPerSecond": 0}"#, "requestsPerSecond"),
        (#"{"app": "a", "requestsPerSecond": 1000001}"#, "requestsPerSecond"), (#"{"app": "a", "ttl": 0}"#, "ttl"),
        (#"{"app": "a", "ttl": 3153600001}"#, "ttl"), (#"{"app": "a", "ttl": null}"#, "ttl"),
        (#"{"app": "a", "note": "\#(String(repeating: "n", count: 201))"}"#, "note"),
        (#"{"app": "a", "note": "\u0000"}"#, "note"), (#"{"app": "a", "days": 1}"#, "days"),
    ])
    func keysOutOfRange(_ body: String, _ field: String) {
        let found = problem("POST", "/v1/keys", body)
        #expect(found?.code == .invalidArgument && found?.field == field)
        #expect(found?.bound?.isEmpty == false)
    }

    @Test(arguments: ["0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", "0123456789abcdeg"])
    func idsOfKeysOutOfRange(_ id: String) {
        let found = problem("DELETE", "/v1/keys/\(id)")
        #expect(found?.code == .invalidArgument && found?.field == "key")
    }
}
