import BusProtocol
import SignalingProtocol
import Testing

@testable import GatewayAPILogic

/// The lists that operators look at: the audit trail, webhooks and trunks.
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
        for (name, list) in [("webhook", ListRecords.List.webhooks), ("trunk", .trunks)] {
            #expect(try act("GET", "/v1/apps/a/\(name)") == .lists(.record(ListRecords(list, app: app, limit: 1))))
        }
    }

    @Test func onlyKeysOfTheClusterSeeAllApps() {
        let ids = ["listAudit", "listWebhooks", "listTrunks"]
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
        ("apps/%20/trunk", "app"),
    ])
    func listsOfOperatorsOutOfRange(_ target: String, _ field: String) {
        let found = problem("GET", "/v1/\(target)")
        #expect(found?.code == .invalidArgument && found?.field == field)
        #expect(found?.bound?.isEmpty == false)
    }
}
