import Testing

@testable import ControlInspection
@testable import RedisClient

@Suite struct ClusterViewTests {
    private static let asked = NodeAddress(host: "10.0.0.1", port: 7001)

    private static func view(_ lines: [String], endpoints: Set<NodeAddress> = []) throws -> ClusterView {
        try ClusterView(nodes: lines.joined(separator: "\n") + "\n", asked: asked, endpoints: endpoints)
    }

    @Test func aServersOwnLineAndOthers() throws {
        let view = try Self.view([
            "aa :7001@17001 myself,master - 0 1699 1 connected 0-5460 5462 [77->-bb] [93-<-cc]",
            "bb 10.0.0.2:7002@17002,,shard-id=x master,fail? - 5 1699 2 connected 5461",
            "cc 10.0.0.3:7003@17003 slave aa 0 1699 1 connected",
            "dd :0@0 master,noaddr - 0 1699 0 disconnected",
        ])
        #expect(view.own == "aa")
        #expect(
            view.nodes.map(\.address) == [
                Self.asked, NodeAddress(host: "10.0.0.2", port: 7002), NodeAddress(host: "10.0.0.3", port: 7003), nil,
            ])
        #expect(view.nodes.map(\.slots) == [[0...5460, 5462...5462], [5461...5461], [], []])
        #expect(view.nodes.map(\.isFailing) == [false, true, false, false])
        #expect(view.nodes.map(\.isMaster) == [true, true, false, true])
        #expect(view.nodes.map(\.master) == [nil, nil, "aa", nil])
        #expect(view.open.map(\.slot) == [77, 93] && view.open.map(\.isLeaving) == [true, false])
        #expect(view.open.map(\.other) == ["bb", "cc"])
        #expect(view.distribution == "aa 0-5460 5462, bb 5461")
        #expect(view.owners[5461] == "bb" && view.owners[5462] == "aa" && view.owners[5463] == nil)
    }

    /// Clients may have to use host names, or other addresses than the servers among themselves.
    @Test func theAddressIsTheOneForClients() throws {
        let line = "aa 10.0.0.1:7001@17001,r1.example myself,master - 0 1699 1 connected 0"
        #expect(try Self.view([line]).nodes[0].address == NodeAddress(host: "10.0.0.1", port: 7001))
        let named = NodeAddress(host: "r1.example", port: 7001)
        #expect(try Self.view([line], endpoints: [named]).nodes[0].address == named)
    }

    @Test(arguments: ["", "ERR", "aa 10.0.0.1:7001@17001 master - 0 1699 1 connected 0"])
    func noView(text: String) {
        #expect(throws: RedisError.self) { try Self.view([text]) }
    }

    @Test(arguments: ["16384", "5-3", "x", "1-2-3", "[5->-", "[x->-aa]", "[5-*-aa]"])
    func unknownWordsAreSkipped(word: String) throws {
        let view = try Self.view(["aa 10.0.0.1:7001@17001 myself,master - 0 1699 1 connected \(word)"])
        #expect(view.nodes[0].slots.isEmpty && view.open.isEmpty)
    }
}
