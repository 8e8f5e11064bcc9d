internal import GatewayLogic
internal import NIOCore
internal import ServiceMetrics
internal import SignalingProtocol
internal import SignalingWire
internal import WebSocketWire

/// Media calls. They are answered when they are ready: neither the session's other calls wait
/// for a node, nor they for those.
extension ClientConnection {
    /// A call that is to be answered.
    private struct Ticket {
        var id: String
        var arrivedAt: LocalTime
        var app: AppID

        func channel(_ name: MediaChannelName) -> MediaChannelKey { MediaChannelKey(app: app, name: name) }
    }

    func received(_ request: MediaRequest, at time: LocalTime, on shard: isolated GatewayShard) {
        guard let app = mediaApp else {
            let error = SignalingError(
                .notLoggedIn, .notLoggedIn, "log in or send media_hello before calling functions")
            return shard.send(.text, ServerFrame.callFailed(id: request.id, error), to: outlet)
        }
        if media == nil { media = MediaSocket(now: .now) }
        let ticket = Ticket(id: request.id, arrivedAt: time, app: app)
        if let refusal = media?.begins() { return refuse(ticket, refusal, on: shard) }
        switch request.call {
        case .failure(let refusal): answer(ticket, refusal, on: shard)
        case .success(let call):
            guard call.isOnItsLine else {
                let error = SignalingError(.notLoggedIn, .badLine, "the line is not that of this connection")
                return answer(ServerFrame.callFailed(id: request.id, error), on: shard)
            }
            perform(call.act, ticket, on: shard)
        }
    }

    private func perform(_ act: MediaCall.Act, _ ticket: Ticket, on shard: isolated GatewayShard) {
        if let refusal = refusal(of: act, at: ticket.arrivedAt) { return answer(ticket, refusal, on: shard) }
        switch act {
        case .join(let request):
            shard.apps.find(ticket.app) { [self] settings in admit(request, ticket, settings, on: shard) }
        case .resume(let name, let participant, let secret):
            bind(participant, in: name, ticket, on: shard) { node, answered in
                let command = ResumeMedia(
                    to: node, channel: ticket.channel(name), participant: participant, secret: secret)
                shard.ask(command) { result in
                    answered(
                        result.map {
                            Bound(frame: ServerFrame.mediaResumed(id: ticket.id, $0), keyUID: $0.keyUID)
                        })
                }
            }
        case .restart(let name, let participant, let secret, let transport):
            bind(participant, in: name, ticket, on: shard) { node, answered in
                let command = RestartMedia(
                    to: node, channel: ticket.channel(name), participant: participant, secret: secret,
                    transport: transport)
                shard.ask(command) { result in
                    answered(
                        result.map {
                            Bound(frame: ServerFrame.mediaRestarted(id: ticket.id, $0), keyUID: $0.keyUID)
                        })
                }
            }
        case .renew(let name, let participant, let key): renew(participant, in: name, key, ticket, on: shard)
        case .mute(let name, let participant, let change):
            ask(about: participant, in: name, ticket, GatewayMetrics.shared.calls.mediaMute, on: shard) {
                MuteMedia(to: $0.node, channel: ticket.channel(name), participant: participant, change: change)
            } answer: {
                ServerFrame.mediaMuted(id: ticket.id, $0)
            }
        case .leave(let name, let participant):
            ask(about: participant, in: name, ticket, GatewayMetrics.shared.calls.mediaLeave, on: shard) {
                LeaveMedia(from: $0.node, channel: ticket.channel(name), participant: participant)
            } answer: { [self] left in
                end(participant, on: shard)
                return ServerFrame.mediaLeft(id: ticket.id, left)
            }
        }
    }

    /// Counts a call against its rate.
    private func refusal(of act: MediaCall.Act, at time: LocalTime) -> MediaRefusal? {
        switch act {
        case .join: media?.mayJoin(now: time)
        case .resume(_, let participant, _), .restart(_, let participant, _, _):
            media?.mayBind(participant, now: time)
        case .renew, .mute: media?.mayChange(now: time)
        case .leave: nil
        }
    }

    // MARK: - Joining

    private func admit(
        _ request: MediaJoinRequest, _ ticket: Ticket, _ settings: Result<AppSettings, SignalingError>,
        on shard: isolated GatewayShard
    ) {
        let channel = ticket.channel(request.channel)
        let expiry: Int64
        do throws(MediaRefusal) {
            expiry = try check(request.key, for: request.uid, in: channel, settings, on: shard)
        } catch {
            return answer(ticket, error, on: shard)
        }
        shard.findMediaNode(for: channel, avoiding: request.avoid) { [self] node in
            guard let node else { return answer(ticket, .noNode, on: shard) }
            let join = JoinMedia(
                to: node, channel: channel, participant: .random(), uid: request.uid, call: request.call,
                flags: request.flags, expiry: expiry, info: request.info, transport: request.transport)
            ask(join, ticket, on: shard)
        }
    }

    private func check(
        _ key: String?, for uid: UInt32, in channel: MediaChannelKey, _ settings: Result<AppSettings, SignalingError>,
        on shard: isolated GatewayShard
    ) throws(MediaRefusal) -> Int64 {
        switch settings {
        case .failure(let error): throw error.reason == .unknownApp ? .unknownApp : .noNode
        case .success(let settings):
            try MediaAdmission.check(
                key, for: uid, in: channel, settings: settings, now: shard.environment.unixTime)
        }
    }

    private func ask(_ join: JoinMedia, _ ticket: Ticket, on shard: isolated GatewayShard) {
        guard !isClosed else { return }
        // Bound before the node knows the participant, because events may be published before the reply arrives.
        media?.asked(for: join.participant)
        shard.bind(join.participant, to: self)
        shard.ask(join) { [self] result in
            GatewayMetrics.shared.calls.mediaJoin.record(since: ticket.arrivedAt)
            switch result {
            case .failure(let refusal):
                end(join.participant, on: shard)
                if refusal.mayHaveJoined { shard.undo(join) }
                answer(ticket, refusal, on: shard)
            case .success(let joined):
                // Nobody would know of the participant.
                guard !isClosed else { return shard.undo(join) }
                let frame = ServerFrame.mediaJoined(
                    id: ticket.id, join.participant, at: join.to, expiry: join.expiry, joined)
                let details = MediaSocket.Participant(node: join.to, channel: join.channel.name, keyUID: join.uid)
                bound(join.participant, details, frame, on: shard)
            }
        }
    }

    /// Answers a call that has bound a participant to this connection, and then tells what has happened meanwhile.
    private func bound(
        _ participant: ParticipantID, _ details: MediaSocket.Participant, _ frame: [UInt8],
        on shard: isolated GatewayShard
    ) {
        let held = media?.bound(participant, details) ?? []
        answer(frame, on: shard)
        for publication in held { tell(publication, participant, on: shard) }
    }

    // MARK: - Participants of other connections

    /// The answer to a call that has bound a participant to this connection.
    private struct Bound {
        var frame: [UInt8]
        var keyUID: UInt32
    }

    /// Asks the channel's node to bind a participant to this connection.
    /// - Parameter ask: sends the command.
    private func bind(
        _ participant: ParticipantID, in name: MediaChannelName, _ ticket: Ticket, on shard: isolated GatewayShard,
        _ ask: @escaping (MediaNodeID, @escaping (Result<Bound, MediaRefusal>) -> Void) -> Void
    ) {
        shard.findMediaNode(for: ticket.channel(name)) { [self] found in
            bind(participant, in: name, at: found, ticket, on: shard, ask)
        }
    }

    private func bind(
        _ participant: ParticipantID, in name: MediaChannelName, at found: MediaNodeID?, _ ticket: Ticket,
        on shard: isolated GatewayShard,
        _ ask: (MediaNodeID, @escaping (Result<Bound, MediaRefusal>) -> Void) -> Void
    ) {
        guard !isClosed else { return }
        // One that is bound already is where it is, and goes on getting its events.
        let known = media?.details(of: participant, in: name)
        // It is in another channel, or asked for already.
        if known == nil, media?.knows(participant) == true { return answer(ticket, .unknownParticipant, on: shard) }
        guard let node = known?.node ?? found else { return answer(ticket, .noNode, on: shard) }
        if known == nil { media?.asked(for: participant) }
        ask(node) { [self] result in
            bindingAnswered(participant, in: name, at: node, ticket, result, isNew: known == nil, on: shard)
        }
    }

    private func bindingAnswered(
        _ participant: ParticipantID, in name: MediaChannelName, at node: MediaNodeID, _ ticket: Ticket,
        _ answer: Result<Bound, MediaRefusal>, isNew: Bool, on shard: isolated GatewayShard
    ) {
        GatewayMetrics.shared.calls.mediaResume.record(since: ticket.arrivedAt)
        switch answer {
        case .failure(let refusal):
            if isNew { end(participant, on: shard) }
            self.answer(ticket, refusal, on: shard)
        case .success(let bound):
            guard !isClosed else { return }
            shard.bind(participant, to: self)
            let details = MediaSocket.Participant(node: node, channel: name, keyUID: bound.keyUID)
            self.bound(participant, details, bound.frame, on: shard)
        }
    }

    // MARK: - The connection's own participants

    /// Asks the node of a participant of this connection.
    private func ask<Command: WireCommand>(
        about participant: ParticipantID, in name: MediaChannelName, _ ticket: Ticket, _ durations: Histogram,
        on shard: isolated GatewayShard, _ command: (MediaSocket.Participant) -> Command,
        answer frame: @escaping (Command.Reply) -> [UInt8]
    ) {
        guard let details = media?.details(of: participant, in: name) else {
            return answer(ticket, .unknownParticipant, on: shard)
        }
        shard.ask(command(details)) { [self] result in
            durations.record(since: ticket.arrivedAt)
            switch result {
            case .failure(let refusal):
                // The node has dropped it, or another gateway has it.
                if refusal == .unknownParticipant { end(participant, on: shard) }
                answer(ticket, refusal, on: shard)
            case .success(let reply): answer(frame(reply), on: shard)
            }
        }
    }

    private func renew(
        _ participant: ParticipantID, in name: MediaChannelName, _ key: String, _ ticket: Ticket,
        on shard: isolated GatewayShard
    ) {
        shard.apps.find(ticket.app) { [self] settings in
            let channel = ticket.channel(name)
            let expiry: Int64
            do throws(MediaRefusal) {
                guard let details = media?.details(of: participant, in: name) else { throw .unknownParticipant }
                expiry = try check(key, for: details.keyUID, in: channel, settings, on: shard)
            } catch {
                return answer(ticket, error, on: shard)
            }
            ask(about: participant, in: name, ticket, GatewayMetrics.shared.calls.mediaRenew, on: shard) {
                RenewMedia(to: $0.node, channel: channel, participant: participant, expiry: expiry)
            } answer: { _ in
                ServerFrame.mediaRenewed(id: ticket.id, expiry: expiry)
            }
        }
    }

    // MARK: - Answers

    private func answer(_ ticket: Ticket, _ refusal: MediaRefusal, on shard: isolated GatewayShard) {
        media?.answered()
        refuse(ticket, refusal, on: shard)
    }

    private func refuse(_ ticket: Ticket, _ refusal: MediaRefusal, on shard: isolated GatewayShard) {
        GatewayMetrics.shared.mediaRefusals.increment(refusal)
        guard !isClosed else { return }
        shard.send(.text, ServerFrame.mediaFailed(id: ticket.id, refusal), to: outlet, isAnswer: true)
    }

    private func answer(_ frame: [UInt8], on shard: isolated GatewayShard) {
        media?.answered()
        guard !isClosed else { return }
        shard.send(.text, frame, to: outlet, isAnswer: true)
    }
}

extension MediaRefusal {
    /// Whether the node may have let the participant in nevertheless: there was no answer of it.
    fileprivate var mayHaveJoined: Bool { self == .nodeUnreachable || self == .noNode }
}
