internal import BusProtocol
package import SignalingProtocol

/// Mailboxes: the messages that wait for a user.
extension APIOperation {
    static let mailboxes: [APIOperation] = [
        APIOperation(
            "listMailbox", "GET /v1/apps/{app}/users/{account}/mailbox", .key(.read), .query(["limit", "after"]),
            act: APIArguments.listMailbox),
        APIOperation(
            "emptyMailbox", "DELETE /v1/apps/{app}/users/{account}/mailbox", .key(.admin),
            act: APIArguments.emptyMailbox),
        APIOperation(
            "recallMessage", "DELETE /v1/apps/{app}/users/{account}/mailbox/{version}", .key(.admin),
            act: APIArguments.recallMessage),
    ]
}

extension APIAct {
    package enum Mailbox: Equatable, Sendable {
        case list(UserKey, MailPage)
        case empty(UserKey)
        /// Deletes one message before a session gets it.
        case recall(UserKey, version: Int64)
    }

    /// The range of a message's version: Redis compares them as doubles, which are exact up to 2^53.
    package static let versions = 1...9_007_199_254_740_991
}

extension APIArguments {
    fileprivate func listMailbox() throws(APIProblem) -> APIAct {
        let page = MailPage(
            after: Int64(try query.integer("after", in: 0...APIAct.versions.upperBound, standard: 0)),
            limit: try query.integer("limit", in: APIAct.pageRecords, standard: 100))
        return .mailbox(.list(try user(), page))
    }

    fileprivate func emptyMailbox() throws(APIProblem) -> APIAct { .mailbox(.empty(try user())) }

    fileprivate func recallMessage() throws(APIProblem) -> APIAct {
        let user = try user()
        guard let version = Int(text("version")), APIAct.versions.contains(version) else {
            throw APIProblem.invalid(
                "version", "a whole number of \(APIAct.versions.lowerBound)...\(APIAct.versions.upperBound)")
        }
        return .mailbox(.recall(user, version: Int64(version)))
    }
}
