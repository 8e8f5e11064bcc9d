internal import BusProtocol
internal import ClusterBus
internal import ClusterState
internal import InvitationLogic
internal import PostgresStore
internal import RedisClient
internal import SignalingProtocol

/// Handles the commands of sip-bridges.
struct PhoneHandler: Sendable {
    let driver: CallDriver
    let trunks: CachedRecords<AppID, TrunkTerms>
    let callees: CalleeNumbers

    /// Handles a report about a telephone.
    func report(_ command: PhoneReport, _ context: CommandContext) async throws(SignalingError) -> PhoneCallStatus {
        try CallMessage.checkSize(command.extra)
        let id = CallID(command.call.id)
        let snapshot = try await driver.play(command.call.tag, context) { machine, now throws(SignalingError) in
            machine.phoneActed(command, now: now)
        }
        return PhoneCallStatus(continues: snapshot?.continues(id, with: command.bridge) == true)
    }

    /// Handles a telephone's call to a user.
    func invite(_ command: InviteFromPhone, _ context: CommandContext) async throws(SignalingError) -> PhoneCallStatus {
        try CallMessage.checkSize(command.extra)
        let call = command.call
        let user = UserKey(app: call.channel.app, account: call.user)
        let callee = await callees.presence(of: user, try await driver.records.party(user))
        // If PostgreSQL does not answer and the app's trunk was never read, the service's own limit applies.
        let longest = try? await trunks.terms(of: user.app)?.longest
        let phone = PhoneLeg(
            role: .caller, bridge: command.bridge, ring: command.ring.map { .milliseconds($0) }, longest: longest,
            record: command.record)
        do throws(SignalingError) {
            let snapshot = try await driver.play(call.tag, context) { machine, now throws(SignalingError) in
                machine.invite(from: phone, in: call, extra: command.extra, callee: callee, now: now)
            }
            return PhoneCallStatus(continues: snapshot?.continues(CallID(call.id), with: command.bridge) == true)
        } catch {
            // The user's mailbox is full: the call has ended and is in the log.
            guard error.code == .inviteOther else { throw error }
            return PhoneCallStatus(continues: false)
        }
    }
}

extension PhoneCall {
    /// The hash tag of the call's record.
    var tag: String {
        let (first, second) = user < phone ? (user, phone) : (phone, user)
        return KeySpace.callTag(channel: channel, caller: first, callee: second)
    }
}
