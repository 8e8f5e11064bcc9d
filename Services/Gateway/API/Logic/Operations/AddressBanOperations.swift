package import BusProtocol
internal import SignalingProtocol

/// Bans of client addresses.
extension APIOperation {
    static let addressBans: [APIOperation] = [
        APIOperation(
            "listAddressBans", "GET /v1/address-bans", .clusterKey(.read), .query(["limit", "after"]),
            act: APIArguments.listAddressBans),
        APIOperation(
            "setAddressBan", "PUT /v1/address-bans/{network}", .clusterKey(.admin), .body(),
            act: APIArguments.setAddressBan),
        APIOperation(
            "deleteAddressBan", "DELETE /v1/address-bans/{network}", .clusterKey(.admin),
            act: APIArguments.deleteAddressBan),
    ]
}

extension APIAct {
    package enum AddressBans: Equatable, Sendable {
        case list(ListAddressBans)
        case set(ClientNetwork, until: BanEnd, reason: String)
        case lift(ClientNetwork)
    }
}

extension APIArguments {
    fileprivate func listAddressBans() throws(APIProblem) -> APIAct {
        var after: ClientNetwork?
        if let text = try query.text("after", bytes: APIAct.positionBytes), !text.isEmpty {
            after = try Self.network(text, "after")
        }
        let limit = try query.integer("limit", in: APIAct.pageRecords, standard: 100)
        return .addressBans(.list(ListAddressBans(after: after, limit: limit)))
    }

    fileprivate func setAddressBan() throws(APIProblem) -> APIAct {
        let terms = try banTerms()
        return .addressBans(.set(try network(), until: terms.end, reason: terms.reason))
    }

    fileprivate func deleteAddressBan() throws(APIProblem) -> APIAct { .addressBans(.lift(try network())) }

    private func network() throws(APIProblem) -> ClientNetwork { try Self.network(text("network"), "network") }

    private static func network(_ text: String, _ field: String) throws(APIProblem) -> ClientNetwork {
        guard let network = ClientNetwork(text) else { throw APIProblem.invalid(field, ClientNetwork.bound) }
        return network
    }
}
