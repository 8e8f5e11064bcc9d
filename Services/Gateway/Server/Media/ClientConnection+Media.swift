internal import BusProtocol
internal import GatewayLogic
internal import NIOCore
internal import ServiceKit
internal import ServiceMetrics
internal import SignalingProtocol
internal import SignalingWire
internal import WebSocketWire

/// Media: sockets that are opened for it alone, and the events of media channels.
extension ClientConnection {
    /// Whether the socket was opened for media alone.
    var isForMedia: Bool { media.map { $0.hello != .none } ?? false }

    /// The app whose media channels the client may use.
    var mediaApp: AppID? {
        if case .open(let app) = media?.hello { app } else { session.user?.app }
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
        let line = SecureRandom.hex(bytes: Line.secretBytes)
        media?.appIsKnown(line: line)
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

    // MARK: - Events

    func received(_ publication: MediaPublication, for participant: ParticipantID, on shard: isolated GatewayShard) {
        if media?.received(publication, for: participant) == true { tell(publication, participant, on: shard) }
    }

    func tell(_ publication: MediaPublication, _ participant: ParticipantID, on shard: isolated GatewayShard) {
        guard !isClosed else { return }
        let frame = ServerFrame.mediaEvent(publication.event, in: publication.channel, for: participant)
        shard.send(.text, frame, to: outlet)
        if publication.isLast { end(participant, on: shard) }
    }

    /// Forgets a participant that is over, or was not let in.
    func end(_ participant: ParticipantID, on shard: isolated GatewayShard) {
        if shard.participants[participant] === self { shard.participants[participant] = nil }
        media?.ended(participant, now: .now)
    }

    /// Forgets the participants, because the connection has ended. Their media go on.
    func endMedia(on shard: isolated GatewayShard) {
        for participant in media?.all ?? [] { end(participant, on: shard) }
        media = nil
    }
}
