internal import BusProtocol
internal import GatewayAPILogic
internal import MessageStore
internal import SignalingProtocol
internal import SignalingWire

/// Mailboxes: the messages that wait for a user. What is deleted is noted in the audit trail before.
extension APIPerformer {
    func perform(_ act: APIAct.Mailbox, _ write: BegunWrite?) async throws -> Outcome {
        switch act {
        case .list(let user, let page): try await list(page, of: user)
        case .empty(let user): try await empty(user, write)
        case .recall(let user, let version): try await recall(version, of: user, write)
        }
    }

    private func list(_ page: MailPage, of user: UserKey) async throws -> Outcome {
        var page = page
        let messages = shards.next().messages
        while true {
            let part = try await messages.listMail(of: user, after: page.position, limit: page.missing)
            if try !page.take(part.entries, count: part.count, through: part.through, more: part.more) { break }
        }
        return Outcome(page.json, work: page.work)
    }

    private func empty(_ user: UserKey, _ write: BegunWrite?) async throws -> Outcome {
        let shard = shards.next()
        _ = try await shard.ask(NoteMailboxAct(user: user), as: write?.command)
        let done = try await shard.messages.emptyMailbox(of: user)
        return Outcome(
            Self.account(user.account), JSONMember("removed", done.count), work: APIWork(calls: done.calls))
    }

    private func recall(_ version: Int64, of user: UserKey, _ write: BegunWrite?) async throws -> Outcome {
        let shard = shards.next()
        _ = try await shard.ask(NoteMailboxAct(user: user, version: version), as: write?.command)
        switch try await shard.messages.recallMail(of: user, version: version, as: write?.command) {
        case .recalled: return Outcome(Self.account(user.account), JSONMember("version", version))
        case .absent: throw APIProblem(.notFound, "no message with this version waits for the user", field: "version")
        case .delivered:
            throw APIProblem(.alreadyDelivered, "the user's session has the message", field: "version")
        }
    }
}
