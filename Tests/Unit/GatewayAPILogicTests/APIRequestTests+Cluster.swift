import BusProtocol
import Testing

@testable import GatewayAPILogic

/// The stores, and processes that are drained.
extension APIRequestTests {
    @Test func onlyKeysOfTheClusterSeeTheStores() throws {
        #expect(try act("GET", "/v1/stores") == .cluster(.listStores))
        #expect(APIOperation.all.contains { $0.id == "listStores" && $0.needsClusterKey && $0.scope == .read })
    }

    @Test func processesAreDrained() throws {
        #expect(try act("POST", "/v1/processes/gateway-1.0f/drain") == .cluster(.drainProcess("gateway-1.0f")))
        #expect(APIOperation.all.contains { $0.id == "drainProcess" && $0.needsClusterKey && $0.scope == .admin })
        for process in [String(repeating: "x", count: 201), "%20", "%C3%BC"] {
            let found = problem("POST", "/v1/processes/\(process)/drain")
            #expect(found?.code == .invalidArgument && found?.field == "process")
        }
    }
}
