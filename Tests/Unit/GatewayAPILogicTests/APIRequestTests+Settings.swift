import BusProtocol
import SignalingProtocol
import SignalingWire
import Testing

@testable import GatewayAPILogic

/// The lists that operators look at: the audit trail, webhooks, trunks and before-hooks.
extension APIRequestTests {
    @Test func listsOfOperators() throws {
        let app = try AppID("a")
        func page(_ list: ListRecords.List, app: AppID? = nil, after: String = "", limit: Int = 100) -> APIAct {
            .lists(.page(ListRecords(list, app: app, after: after, limit: limit)))
        }
        #expect(try act("GET", "/v1/audit") == page(.audit))
        #expect(
            try act("GET", "/v1/audit?app=a&limit=1000&after=17.5")
                == page(.audit, app: app, after: "17.5", limit: 1000))
        #expect(try act("GET", "/v1/webhooks?limit=1&after=b") == page(.webhooks, after: "b", limit: 1))
        #expect(try act("GET", "/v1/trunks?limit=1&after=b") == page(.trunks, after: "b", limit: 1))
        #expect(try act("GET", "/v1/hooks?limit=1&after=b") == page(.hooks, after: "b", limit: 1))
        #expect(try act("GET", "/v1/apps/a/webhooks") == page(.webhooks, app: app, limit: 16))
        for (name, list) in [("webhook", ListRecords.List.webhook), ("trunk", .trunks), ("hook", .hooks)] {
            #expect(try act("GET", "/v1/apps/a/\(name)") == .lists(.record(ListRecords(list, app: app, limit: 1))))
        }
    }

    @Test func onlyKeysOfTheClusterSeeAllApps() {
        let ids = ["listAudit", "listWebhooks", "listTrunks", "listHooks"]
        let found = APIOperation.all.filter { ids.contains($0.id) }
        #expect(found.count == ids.count && found.allSatisfy { $0.needsClusterKey && $0.scope == .read })
    }

    @Test(arguments: [
        ("audit?limit=0", "limit"), ("audit?limit=1001", "limit"), ("audit?app=", "app"), ("audit?app=%C3%BC", "app"),
        ("audit?app=\(String(repeating: "x", count: 65))", "app"), ("audit?after=x", "after"),
        ("audit?after=1.", "after"),
        ("audit?after=-1.5", "after"), ("audit?after=1.x", "after"), ("audit?after=253402300800000000.5", "after"),
        ("audit?after=1.9223372036854775808", "after"), ("audit?prefix=x", "prefix"), ("webhooks?limit=1001", "limit"),
        ("webhooks?after=\(String(repeating: "x", count: 1025))", "after"), ("webhooks?app=a", "app"),
        ("trunks?limit=0", "limit"), ("trunks?prefix=x", "prefix"), ("apps/a/webhook?limit=1", "limit"),
        ("apps/a/webhooks?after=x", "after"),
        ("apps/%20/trunk", "app"), ("hooks?limit=1001", "limit"), ("hooks?app=a", "app"),
        ("apps/a/hook?limit=1", "limit"),
    ])
    func listsOfOperatorsOutOfRange(_ target: String, _ field: String) {
        let found = problem("GET", "/v1/\(target)")
        #expect(found?.code == .invalidArgument && found?.field == field)
        #expect(found?.bound?.isEmpty == false)
    }
}

/// What is set up.
extension APIRequestTests {
    @Test func settingsAreExportedAndApplied() throws {
        #expect(try act("GET", "/v1/settings") == .settings(.export(nil)))
        #expect(try act("GET", "/v1/settings?app=a") == .settings(.export(try AppID("a"))))
        let body = JSONValue.object([JSONMember("version", 1), JSONMember("apps", .object([]))])
        for (query, isDryRun) in [("", false), ("?dryRun=false", false), ("?dryRun=true", true)] {
            #expect(
                try act("POST", "/v1/settings\(query)", body.compactText)
                    == .settings(.apply(body, isDryRun: isDryRun)))
        }
    }

    @Test func appsAreRemovedByAdministratorsOfTheCluster() throws {
        #expect(try act("DELETE", "/v1/apps/a") == .settings(.removeApp(try AppID("a"))))
        #expect(APIOperation.all.contains { $0.id == "removeApp" && $0.needsClusterKey && $0.scope == .admin })
    }

    @Test func onlyAdministratorsOfTheClusterSeeAndChangeSettings() {
        let found = APIOperation.all.filter { $0.template == "/v1/settings" }
        #expect(found.count == 2 && found.allSatisfy { $0.needsClusterKey && $0.scope == .admin })
        #expect(found.map(\.isWrite) == [false, true] && found.map(\.hasBody) == [false, true])
        #expect(found.last?.bodyBound == 1 << 20)
    }

    @Test(arguments: [
        ("GET", "?app=", nil, "app"), ("GET", "?app=%20", nil, "app"), ("GET", "?dryRun=true", nil, "dryRun"),
        ("POST", "?dryRun=1", "{}", "dryRun"), ("POST", "?dryRun", "{}", "dryRun"), ("POST", "?app=a", "{}", "app"),
        ("POST", "", #"{"app": {}}"#, "app"), ("POST", "", #"{"apps": {}, "apps": {}}"#, "apps"),
    ])
    func settingsOutOfRange(_ method: String, _ query: String, _ body: String?, _ field: String) {
        let found = problem(method, "/v1/settings\(query)", body)
        #expect(found?.code == .invalidArgument && found?.field == field)
    }

    @Test func settingsAreAnObject() { #expect(problem("POST", "/v1/settings", "[]")?.code == .malformed) }
}
