internal import GatewayLogic
internal import NIOCore
internal import ServiceKit
internal import ServiceMetrics
internal import SignalingProtocol
internal import SignalingWire
internal import WebSocketWire

/// Media: sockets that are opened for it alone, calls, and events. Calls are answered when they are ready: neither the session's
/// other calls wait for a node, nor they for those.
extension ClientConnection {
    /// Whether the socket was opened for media alone.
    var isForMedia: Bool { media.map { $0.hello != .none } ?? false }

    /// Unregisters the participants, because the connection has ended. Their media goes on.
    func endMedia(on shard: isolated GatewayShard) {
        for participant in media?.all ?? [] { shard.participants[participant] = nil }
        media = nil
    }

    // MARK: - Hello

    func received(_ hello: MediaHello, on shard: isolated GatewayShard) {
        guard session.isFresh, media == nil else { return answer(hello: .refused, on: shard) }
        takeLogin()
        media = MediaSocket(now: .now)
        guard shard.addressLimiter.mayLogIn(addressKey) else { return refuseHello(.rateLimited, on: shard) }
        guard let app = try? AppID(hello.app) else { return refuseHello(.unknownApp, on: shard) }
        media?.greets(app)
        shard.apps.find(app) { [self] settings in
            guard !isClosed else { return }
            switch settings {
            case .success: open(on: shard)
            case .failure(let error): refuseHello(error.reason == .unknownApp ? .unknownApp : .noNode, on: shard)
            }
        }
    }

    private func open(on shard: isolated GatewayShard) {
        media?.appIsKnown()
        line = SecureRandom.hex(bytes: Line.secretBytes)
        takeLogin(frames: Limits.mediaFrameBytes)
        raisePace()
        outlet.bound = shard.configuration.sendBufferBound
        shard.send(.text, ServerFrame.mediaHelloSucceeded(line: line), to: outlet)
    }

    /// Refuses a hello for good.
    private func refuseHello(_ refusal: MediaRefusal, on shard: isolated GatewayShard) {
        if refusal == .unknownApp { shard.addressLimiter.loginFailed(addressKey) }
        answer(hello: refusal, on: shard)
        handle(.close(.normal), on: shard)
    }

    private func answer(hello refusal: MediaRefusal, on shard: isolated GatewayShard) {
        GatewayMetrics.shared.mediaRefusals.increment(refusal)
        shard.send(.text, ServerFrame.mediaHelloFailed(refusal), to: outlet)
    }

    /// Refuses a login or a resume on a socket that was opened for media alone.
    func refuseLogin(_ frame: (SignalingError) -> [UInt8], on shard: isolated GatewayShard) {
        let error = SignalingError(.alreadyLoggedIn, .alreadyLoggedIn, "this connection was opened for media")
        shard.send(.text, frame(error), to: outlet)
    }

    // MARK: - Calls

    /// A call that is to be answered.
    private struct Ticket {
        var id: String
        var arrivedAt: LocalTime
        var app: AppID
    }

    func received(_ request: MediaRequest, at time: LocalTime, on shard: isolated GatewayShard) {
        guard let app = mediaApp else {
            let error = SignalingError(.notLoggedIn, .notLoggedIn, "log in, or send media_hello, before calling functions")
            return shard.send(.text, ServerFrame.callFailed(id: request.id, error), to: outlet)
        }
        if media == nil { media = MediaSocket(now: .now) }
        if let refusal = media?.begins() { return refuse(request.id, refusal, on: shard) }
        let ticket = Ticket(id: request.id, arrivedAt: time, app: app)
        switch request.call {
        case .failure(let refusal): answer(ticket, refusal, on: shard)
        case .success(let call):
            guard call.isOnItsLine else {
                media?.answered()
                let error = SignalingError(.notLoggedIn, .badLine, "the line is not that of this connection")
                return shard.send(.text, ServerFrame.callFailed(id: request.id, error), to: outlet)
            }
            perform(call.act, ticket, on: shard)
        }
    }

    /// The app whose media channels the client may use.
    private var mediaApp: AppID? {
        if case .open(let app) = media?.hello { app } else { session.user?.app }
    }

    private func perform(_ act: MediaCall.Act, _ ticket: Ticket, on shard: isolated GatewayShard) {
        switch act {
        case .join(let request):
            if let refusal = media?.mayJoin(now: ticket.arrivedAt) { return answer(ticket, refusal, on: shard) }
            shard.apps.find(ticket.app) { [self] settings in admit(request, ticket, settings, on: shard) }
        case .leave(let channel, let participant): leave(channel, participant, ticket, on: shard)
        }
    }

    private func admit(
        _ request: MediaJoinRequest, _ ticket: Ticket, _ settings: Result<AppSettings, SignalingError>,
        on shard: isolated GatewayShard
    ) {
        let expiry: Int64
        switch settings {
        case .failure(let error):
            return answer(ticket, error.reason == .unknownApp ? .unknownApp : .noNode, on: shard)
        case .success(let settings):
            do throws(MediaRefusal) {
                expiry = try MediaAdmission.check(
                    request, app: ticket.app, settings: settings, now: shard.environment.unixTime)
            } catch {
                return answer(ticket, error, on: shard)
            }
        }
        let channel = MediaChannelKey(app: ticket.app, name: request.channel)
        shard.findMediaNode(for: channel, avoiding: request.avoid) { [self] node in
            guard let node else { return answer(ticket, .noNode, on: shard) }
            let join = JoinMedia(
                to: node, channel: channel, participant: .random(), uid: request.uid, call: request.call,
                flags: request.flags, expiry: expiry, info: request.info, transport: request.transport)
            ask(join, ticket, on: shard)
        }
    }

    private func ask(_ join: JoinMedia, _ ticket: Ticket, on shard: isolated GatewayShard) {
        guard !isClosed else { return }
        // Registered before the node knows the participant, because events may be published before the reply arrives.
        media?.asked(join.to, toLetIn: join.participant, to: join.channel.name)
        shard.participants[join.participant] = self
        shard.send(join) { [self] result in
            GatewayMetrics.shared.calls.mediaJoin.record(since: ticket.arrivedAt)
            switch result {
            case .failure(let refusal):
                end(join.participant, on: shard)
                answer(ticket, refusal, on: shard)
            case .success(let joined):
                // Nobody would know of the participant.
                guard !isClosed else { return shard.undo(join) }
                let held = media?.joined(join.participant) ?? []
                let frame = ServerFrame.mediaJoined(
                    id: ticket.id, join.participant, at: join.to, expiry: join.expiry, joined)
                answer(frame, on: shard)
                for publication in held { tell(publication, join.participant, on: shard) }
            }
        }
    }

    private func leave(
        _ channel: MediaChannelName, _ participant: ParticipantID, _ ticket: Ticket, on shard: isolated GatewayShard
    ) {
        let node: MediaNodeID
        do throws(MediaRefusal) {
            guard let media else { throw .unknownParticipant }
            node = try media.node(of: participant, in: channel)
        } catch {
            return answer(ticket, error, on: shard)
        }
        let command = LeaveMedia(
            from: node, channel: MediaChannelKey(app: ticket.app, name: channel), participant: participant)
        shard.send(command) { [self] result in
            GatewayMetrics.shared.calls.mediaLeave.record(since: ticket.arrivedAt)
            switch result {
            case .failure(let refusal):
                // It may try again, unless the node has dropped it meanwhile.
                if refusal == .unknownParticipant { end(participant, on: shard) }
                answer(ticket, refusal, on: shard)
            case .success(let left):
                end(participant, on: shard)
                answer(ServerFrame.mediaLeft(id: ticket.id, left), on: shard)
            }
        }
    }

    private func end(_ participant: ParticipantID, on shard: isolated GatewayShard) {
        shard.participants[participant] = nil
        media?.ended(participant, now: .now)
    }

    private func answer(_ ticket: Ticket, _ refusal: MediaRefusal, on shard: isolated GatewayShard) {
        media?.answered()
        refuse(ticket.id, refusal, on: shard)
    }

    private func refuse(_ id: String, _ refusal: MediaRefusal, on shard: isolated GatewayShard) {
        GatewayMetrics.shared.mediaRefusals.increment(refusal)
        guard !isClosed else { return }
        shard.send(.text, ServerFrame.mediaFailed(id: id, refusal), to: outlet, isAnswer: true)
    }

    private func answer(_ frame: [UInt8], on shard: isolated GatewayShard) {
        media?.answered()
        guard !isClosed else { return }
        shard.send(.text, frame, to: outlet, isAnswer: true)
    }

    // MARK: - Events

    func received(_ publication: MediaPublication, for participant: ParticipantID, on shard: isolated GatewayShard) {
        if media?.received(publication, for: participant) == true { tell(publication, participant, on: shard) }
    }

    private func tell(
        _ publication: MediaPublication, _ participant: ParticipantID, on shard: isolated GatewayShard
    ) {
        guard !isClosed else { return }
        let frame = ServerFrame.mediaEvent(publication.event, in: publication.channel, for: participant)
        shard.send(.text, frame, to: outlet)
        if publication.isLast { end(participant, on: shard) }
    }
}
