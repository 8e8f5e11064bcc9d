package import BusProtocol
package import SignalingProtocol
internal import SignalingWire

/// Attributes of users and channels.
extension APIOperation {
    static let attributes: [APIOperation] = [
        APIOperation(
            "listUserAttributes", "GET /v1/apps/{app}/users/{account}/attributes", .key(.read),
            act: APIArguments.listUserAttributes),
        APIOperation(
            "getUserAttribute", "GET /v1/apps/{app}/users/{account}/attributes/{name}", .key(.read),
            act: APIArguments.getUserAttribute),
        APIOperation(
            "setUserAttribute", "PUT /v1/apps/{app}/users/{account}/attributes/{name}", .key(.admin), .body(),
            act: APIArguments.setUserAttribute),
        APIOperation(
            "deleteUserAttribute", "DELETE /v1/apps/{app}/users/{account}/attributes/{name}", .key(.admin),
            .query(["expected"]), act: APIArguments.deleteUserAttribute),
        APIOperation(
            "listChannelAttributes", "GET /v1/apps/{app}/channels/{channel}/attributes", .key(.read),
            act: APIArguments.listChannelAttributes),
        APIOperation(
            "getChannelAttribute", "GET /v1/apps/{app}/channels/{channel}/attributes/{name}", .key(.read),
            act: APIArguments.getChannelAttribute),
        APIOperation(
            "setChannelAttribute", "PUT /v1/apps/{app}/channels/{channel}/attributes/{name}", .key(.admin), .body(),
            act: APIArguments.setChannelAttribute),
        APIOperation(
            "deleteChannelAttribute", "DELETE /v1/apps/{app}/channels/{channel}/attributes/{name}", .key(.admin),
            .query(["expected"]), act: APIArguments.deleteChannelAttribute),
    ]
}

extension APIAct {
    package enum Attributes: Equatable, Sendable {
        case listOfUser(UserKey)
        case getOfUser(UserKey, AttributeName)
        case changeOfUser(ChangeUserAttribute)
        case listOfChannel(ChannelKey)
        case getOfChannel(ChannelKey, AttributeName)
        case changeOfChannel(ChangeChannelAttribute)
    }
}

extension APIArguments {
    /// The account that a channel's members see as the one that changed an attribute.
    private static let serverAccount = "server"

    fileprivate func listUserAttributes() throws(APIProblem) -> APIAct { .attributes(.listOfUser(try user())) }

    fileprivate func getUserAttribute() throws(APIProblem) -> APIAct {
        .attributes(.getOfUser(try user(), try name()))
    }

    fileprivate func setUserAttribute() throws(APIProblem) -> APIAct {
        let (value, expectation) = try change()
        return .attributes(
            .changeOfUser(
                ChangeUserAttribute(
                    user: try newUser(), name: try newName(), value: value, expectation: expectation)))
    }

    fileprivate func deleteUserAttribute() throws(APIProblem) -> APIAct {
        .attributes(
            .changeOfUser(
                ChangeUserAttribute(user: try user(), name: try name(), value: nil, expectation: try expectation())))
    }

    fileprivate func listChannelAttributes() throws(APIProblem) -> APIAct {
        .attributes(.listOfChannel(try channel()))
    }

    fileprivate func getChannelAttribute() throws(APIProblem) -> APIAct {
        .attributes(.getOfChannel(try channel(), try name()))
    }

    fileprivate func setChannelAttribute() throws(APIProblem) -> APIAct {
        let (value, expectation) = try change()
        return .attributes(
            .changeOfChannel(
                ChangeChannelAttribute(
                    channel: try newChannel(), account: try APINames.account(Self.serverAccount),
                    name: try newName(), value: value, expectation: expectation)))
    }

    fileprivate func deleteChannelAttribute() throws(APIProblem) -> APIAct {
        .attributes(
            .changeOfChannel(
                ChangeChannelAttribute(
                    channel: try ordinaryChannel(), account: try APINames.account(Self.serverAccount),
                    name: try name(), value: nil, expectation: try expectation())))
    }

    /// What an attribute that is deleted must be.
    private func expectation() throws(APIProblem) -> AttributeExpectation {
        try query.value("expected", bytes: 0...Limits.attributeValueBytes).map { .value($0) } ?? .any
    }

    /// The new value, and what the attribute must be.
    private func change() throws(APIProblem) -> (String, AttributeExpectation) {
        let fields = try fields("value", "expected")
        let value = try fields.text("value", bytes: 0...Limits.attributeValueBytes)
        guard let expected = fields["expected"] else { return (value, .any) }
        guard expected != .null else { return (value, .absent) }
        return (value, .value(try fields.text("expected", bytes: 0...Limits.attributeValueBytes)))
    }
}
