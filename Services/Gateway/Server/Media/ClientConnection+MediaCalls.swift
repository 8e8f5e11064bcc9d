internal import BusProtocol
internal import GatewayLogic
internal import NIOCore
internal import Pacing
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

    /// A call about a participant of a channel.
    private struct ParticipantCall {
        var ticket: Ticket
        var name: MediaChannelName
        var participant: ParticipantID

        var channel: MediaChannelKey { ticket.channel(name) }

        init(_ participant: ParticipantID, in name: MediaChannelName, _ ticket: Ticket) {
            self.ticket = ticket
            self.name = name
            self.participant = participant
        }
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
            resume(ParticipantCall(participant, in: name, ticket), secret, on: shard)
        case .restart(let name, let participant, let secret, let transport):
            restart(ParticipantCall(participant, in: name, ticket), secret, transport, on: shard)
        case .renew(let name, let participant, let key):
            renew(ParticipantCall(participant, in: name, ticket), key, on: shard)
        case .mute(let name, let participant, let change):
            mute(ParticipantCall(participant, in: name, ticket), change, on: shard)
        case .leave(let name, let participant):
            leave(ParticipantCall(participant, in: name, ticket), on: shard)
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

    private func resume(_ call: ParticipantCall, _ secret: String, on shard: isolated GatewayShard) {
        bind(call, on: shard) { node, answered in
            let command = ResumeMedia(
                to: node, channel: call.channel, participant: call.participant, secret: secret)
            shard.ask(command) { result in
                answered(
                    result.map {
                        Bound(frame: ServerFrame.mediaResumed(id: call.ticket.id, $0), keyUID: $0.keyUID)
                    })
            }
        }
    }

    private func restart(
        _ call: ParticipantCall, _ secret: String, _ transport: MediaTransportOffer, on shard: isolated GatewayShard
    ) {
        bind(call, on: shard) { node, answered in
            let command = RestartMedia(
                to: node, channel: call.channel, participant: call.participant, secret: secret, transport: transport)
            shard.ask(command) { result in
                answered(
                    result.map {
                        Bound(frame: ServerFrame.mediaRestarted(id: call.ticket.id, $0), keyUID: $0.keyUID)
                    })
            }
        }
    }

    /// Asks the channel's node to bind a participant to this connection.
    /// - Parameter ask: sends the command.
    private func bind(
        _ call: ParticipantCall, on shard: isolated GatewayShard,
        _ ask: @escaping (MediaNodeID, @escaping (Result<Bound, MediaRefusal>) -> Void) -> Void
    ) {
        shard.findMediaNode(for: call.channel) { [self] found in bind(call, at: found, on: shard, ask) }
    }

    private func bind(
        _ call: ParticipantCall, at found: MediaNodeID?, on shard: isolated GatewayShard,
        _ ask: (MediaNodeID, @escaping (Result<Bound, MediaRefusal>) -> Void) -> Void
    ) {
        guard !isClosed else { return }
        // One that is bound already is where it is, and goes on getting its events.
        let known = media?.details(of: call.participant, in: call.name)
        // It is in another channel, or asked for already.
        if known == nil, media?.knows(call.participant) == true {
            return answer(call.ticket, .unknownParticipant, on: shard)
        }
        guard let node = known?.node ?? found else { return answer(call.ticket, .noNode, on: shard) }
        if known == nil { media?.asked(for: call.participant) }
        ask(node) { [self] result in
            bindingAnswered(call, at: node, result, isNew: known == nil, on: shard)
        }
    }

    private func bindingAnswered(
        _ call: ParticipantCall, at node: MediaNodeID, _ answer: Result<Bound, MediaRefusal>, isNew: Bool,
        on shard: isolated GatewayShard
    ) {
        GatewayMetrics.shared.calls.mediaResume.record(since: call.ticket.arrivedAt)
        switch answer {
        case .failure(let refusal):
            if isNew { end(call.participant, on: shard) }
            self.answer(call.ticket, refusal, on: shard)
        case .success(let bound):
            guard !isClosed else { return }
            shard.bind(call.participant, to: self)
            let details = MediaSocket.Participant(node: node, channel: call.name, keyUID: bound.keyUID)
            self.bound(call.participant, details, bound.frame, on: shard)
        }
    }

    // MARK: - The connection's own participants

    private func mute(_ call: ParticipantCall, _ change: MediaMute, on shard: isolated GatewayShard) {
        ask(about: call, GatewayMetrics.shared.calls.mediaMute, on: shard) {
            MuteMedia(to: $0.node, channel: call.channel, participant: call.participant, change: change)
        } answer: {
            ServerFrame.mediaMuted(id: call.ticket.id, $0)
        }
    }

    private func leave(_ call: ParticipantCall, on shard: isolated GatewayShard) {
        ask(about: call, GatewayMetrics.shared.calls.mediaLeave, on: shard) {
            LeaveMedia(from: $0.node, channel: call.channel, participant: call.participant)
        } answer: { [self] left in
            end(call.participant, on: shard)
            return ServerFrame.mediaLeft(id: call.ticket.id, left)
        }
    }

    private func renew(_ call: ParticipantCall, _ key: String, on shard: isolated GatewayShard) {
        shard.apps.find(call.ticket.app) { [self] settings in
            let expiry: Int64
            do throws(MediaRefusal) {
                guard let details = media?.details(of: call.participant, in: call.name) else {
                    throw .unknownParticipant
                }
                expiry = try check(key, for: details.keyUID, in: call.channel, settings, on: shard)
            } catch {
                return answer(call.ticket, error, on: shard)
            }
            ask(about: call, GatewayMetrics.shared.calls.mediaRenew, on: shard) {
                RenewMedia(to: $0.node, channel: call.channel, participant: call.participant, expiry: expiry)
            } answer: { _ in
                ServerFrame.mediaRenewed(id: call.ticket.id, expiry: expiry)
            }
        }
    }

    /// Asks the node of a participant of this connection.
    private func ask<Command: ServiceCommand>(
        about call: ParticipantCall, _ durations: Histogram, on shard: isolated GatewayShard,
        _ command: (MediaSocket.Participant) -> Command, answer frame: @escaping (Command.Reply) -> [UInt8]
    ) {
        guard let details = media?.details(of: call.participant, in: call.name) else {
            return answer(call.ticket, .unknownParticipant, on: shard)
        }
        shard.ask(command(details)) { [self] result in
            durations.record(since: call.ticket.arrivedAt)
            switch result {
            case .failure(let refusal):
                // The node has dropped it, or another gateway has it.
                if refusal == .unknownParticipant { end(call.participant, on: shard) }
                answer(call.ticket, refusal, on: shard)
            case .success(let reply): answer(frame(reply), on: shard)
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
