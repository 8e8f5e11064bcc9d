package import SignalingProtocol
internal import SignalingWire

/// Attributes of users and channels.
extension APIOperation {
    static let attributes: [APIOperation] = [
        APIOperation("listUserAttributes", "GET /v1/apps/{app}/users/{account}/attributes", .key(.read)) {
            arguments throws(APIProblem) in
            .attributes(.listOfUser(try arguments.user()))
        },
        APIOperation("getUserAttribute", "GET /v1/apps/{app}/users/{account}/attributes/{name}", .key(.read)) {
            arguments throws(APIProblem) in
            .attributes(.getOfUser(try arguments.user(), try arguments.name()))
        },
        APIOperation(
            "setUserAttribute", "PUT /v1/apps/{app}/users/{account}/attributes/{name}", .key(.admin), .body()
        ) { arguments throws(APIProblem) in
            .attributes(.changeOfUser(try arguments.userAttribute()))
        },
        APIOperation("deleteUserAttribute", "DELETE /v1/apps/{app}/users/{account}/attributes/{name}", .key(.admin)) {
            arguments throws(APIProblem) in
            .attributes(.changeOfUser(try arguments.userAttributeToDelete()))
        },
        APIOperation("listChannelAttributes", "GET /v1/apps/{app}/channels/{channel}/attributes", .key(.read)) {
            arguments throws(APIProblem) in
            .attributes(.listOfChannel(try arguments.channel()))
        },
        APIOperation("getChannelAttribute", "GET /v1/apps/{app}/channels/{channel}/attributes/{name}", .key(.read)) {
            arguments throws(APIProblem) in
            .attributes(.getOfChannel(try arguments.channel(), try arguments.name()))
        },
        APIOperation(
            "setChannelAttribute", "PUT /v1/apps/{app}/channels/{channel}/attributes/{name}", .key(.admin), .body()
        ) { arguments throws(APIProblem) in
            .attributes(.changeOfChannel(try arguments.channelAttribute()))
        },
        APIOperation(
            "deleteChannelAttribute", "DELETE /v1/apps/{app}/channels/{channel}/attributes/{name}", .key(.admin)
        ) { arguments throws(APIProblem) in
            .attributes(.changeOfChannel(try arguments.channelAttributeToDelete()))
        },
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

    fileprivate func userAttribute() throws(APIProblem) -> ChangeUserAttribute {
        let (value, expectation) = try change()
        return ChangeUserAttribute(
            user: try newUser(), name: try newName(), value: value, expectation: expectation)
    }

    fileprivate func userAttributeToDelete() throws(APIProblem) -> ChangeUserAttribute {
        ChangeUserAttribute(user: try user(), name: try name(), value: nil, expectation: .any)
    }

    fileprivate func channelAttribute() throws(APIProblem) -> ChangeChannelAttribute {
        let (value, expectation) = try change()
        return ChangeChannelAttribute(
            channel: try newChannel(), account: try APINames.account(Self.serverAccount), name: try newName(),
            value: value, expectation: expectation)
    }

    fileprivate func channelAttributeToDelete() throws(APIProblem) -> ChangeChannelAttribute {
        ChangeChannelAttribute(
            channel: try ordinaryChannel(), account: try APINames.account(Self.serverAccount), name: try name(),
            value: nil, expectation: .any)
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
