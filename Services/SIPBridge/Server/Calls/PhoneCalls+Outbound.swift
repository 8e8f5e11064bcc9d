internal import BusProtocol
internal import ClusterBus
internal import Logging
internal import PostgresStore
internal import SIPBridgeLogic
internal import ServiceMetrics
internal import SignalingProtocol

/// Commands of the invitation service: calls to telephones, and acts of users in any call.
extension PhoneCalls {
    /// Calls a telephone, unless another bridge does. Returns when that is decided; if this process dies before,
    /// another bridge gets the command.
    func dial(_ command: DialPhone, _ context: CommandContext) async {
        guard calls[command.call.id] == nil else { return }  // Delivered before.
        guard let resources else { return }
        let leg = OutboundLeg(command, resources: resources, owner: self)
        leg.logger = leg.logger.about(context)
        add(leg)
        leg.step { $0.dial() }
        await sendReports(of: leg)
    }

    /// Carries out an act of the user or the system in a call.
    func order(_ command: OrderPhone, _ context: CommandContext) {
        guard let call = calls[command.call.id] else {
            // It was sent before the call's end was known.
            logger.about(context).debug(
                "received an order for a call that has ended", metadata: ["call": "\(command.call.id)"])
            return
        }
        call.ordered(command, context)
    }

    /// Looks up the trunk of a call and parses the caller's options.
    func prepare(_ leg: OutboundLeg) async {
        guard activeCalls <= callBound else {
            PhoneMetrics.shared.callBoundHit.increment()
            return leg.unprepared(.inviteOther, .overloaded, "\(callBound) calls stand")
        }
        do {
            guard let trunk = try await trunks.find(leg.call.channel.app) else {
                return leg.unprepared(.inviteOther, .noTrunk, "the app has no trunk")
            }
            let ownsNumber = try await owns(OutboundCall.shownNumber(leg.call, extra: leg.extra), leg.call)
            leg.prepare(try OutboundCall(leg.call, extra: leg.extra, trunk: trunk, ownsNumber: ownsNumber))
            register(leg)
        } catch let problem as OutboundCall.Problem {
            PhoneMetrics.shared.countRefused(problem.reason)
            leg.unprepared(.inviteOther, problem.reason, problem.message)
        } catch {
            leg.unprepared(.inviteNetwork, .storeUnavailable, "\(error)")
        }
    }

    /// Whether a number, with or without its `+`, is one of the account's own numbers.
    private func owns(_ number: String?, _ call: PhoneCall) async throws(PostgresError) -> Bool {
        guard let number else { return false }
        let user = UserKey(app: call.channel.app, account: call.user)
        for spelling in PhoneCaller.spellings(ofCalled: number) where try await numbers.find(spelling)?.user == user {
            return true
        }
        return false
    }
}
