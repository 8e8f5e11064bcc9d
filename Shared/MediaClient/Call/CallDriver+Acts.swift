internal import MediaEngineLogic
internal import SignalingProtocol
internal import SignalingWire

/// What the app asks for, and what comes on the path.
extension CallDriver {
    /// Leaves; ends at once when nobody can be told.
    func leave() {
        if case .leaving = phase { return }
        guard phase != .ended else { return }
        guard let participation, isOnline else { return end(nil) }
        phase = .leaving(until: .now + Self.leaveTime)
        reconnect.leave()
        call(.leave(participation.subject)) { [weak self] _ in self?.end(nil) }
    }

    /// Shows another key. Without a participant any more the client joins again with it.
    func renew(key: String) {
        guard phase == .joined || phase == .awaitingKey else { return tell(.keyRefused(.notJoined)) }
        if phase == .awaitingKey {
            configuration.key = key
            phase = .joined
            tell(.keyRenewed)
            let actions = reconnect.participantGone(now: .now)
            // After a rejoin that was refused the client is looking for a way already, at its own pace: not with a key
            // that is waited for.
            return perform(actions.isEmpty ? [.join(avoid: [])] : actions)
        }
        guard let participation else { return tell(.keyRefused(.notJoined)) }
        call(.renew(participation.subject, key: key)) { [self] result in
            switch result {
            case .success:
                configuration.key = key
                tell(.keyRenewed)
            case .failure(let error): tell(.keyRefused(error))
            }
        }
    }

    func set(_ flag: MediaFlags, _ isOn: Bool) {
        if isOn { flags.insert(flag) } else { flags.remove(flag) }
        tellFlags(now: .now)
    }

    /// Tells the others what the client sends, when that has changed.
    func tellFlags(now: MediaInstant) {
        guard phase == .joined, let participation, participation.told != flags, isOnline, let next = nextMute,
            now >= next
        else { return }
        nextMute = nil
        let flags = flags
        call(.mute(participation.subject, flags)) { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let json):
                nextMute = .now
                // Another join has told the flags anew, and has another number.
                guard self.participation?.subject == participation.subject else { return }
                self.participation?.told = flags
                if let n = json["n"]?.integer { follow(roster?.changedItself(n: n)) }
            case .failure: nextMute = .now + Self.muteRetry
            }
        }
    }

    func receive(_ arrival: MediaPath.Arrival) {
        let now = MediaInstant.now
        switch arrival {
        case .sign(let size): statistics?.receive(bytes: size)
        case .audio(let datagram, let size):
            statistics?.receive(bytes: size)
            let packet = datagram.packet
            let isFirst = slotSpeakers.updateValue(packet.speaker, forKey: datagram.ssrc) != packet.speaker
            statistics?.receiveAudio(uid: packet.speaker, sequence: packet.sequence, isFirst: isFirst, at: now)
            audio?.incoming.put(packet, on: datagram.ssrc, arrival: now)
        }
        perform(reconnect.receive(now: now))
    }

    /// Brings the report up to date when it is time, or at the end.
    /// - Returns: whether it was time.
    @discardableResult
    func takeReport(now: MediaInstant, isLast: Bool) -> Bool {
        guard let roster, statistics != nil else { return false }
        for (uid, delay) in audio?.incoming.delays ?? [] {
            statistics?.setDelay(mouthToEar(uid, buffered: delay), uid: uid)
        }
        guard let report = statistics?.report(at: now, isLast: isLast) else { return false }
        latest.duration = max(report.duration, latest.duration)
        latest.sentBytes = report.traffic.sentBytes
        latest.receivedBytes = report.traffic.receivedBytes
        latest.sentKilobits = report.sentKilobits
        latest.receivedKilobits = report.receivedKilobits
        latest.users = roster.count
        latest.roundTrip = Int((path?.roundTrip ?? .zero).milliseconds.rounded())
        latest.lostUpstream = path?.reports.lostPercent ?? 0
        latest.playout = audio?.incoming.playout ?? MediaStatistics.Playout()
        latest.audio = report.users.map { heard in
            MediaStatistics.Audio(
                uid: heard.uid, quality: heard.quality.rawValue, delay: Int(heard.delay.milliseconds.rounded()),
                lost: Int(heard.lostPercent.rounded()))
        }
        return true
    }

    /// From a user's mouth to the ear: to the node, from it, the buffer, and a frame each in capture and playback.
    private func mouthToEar(_ uid: UInt32, buffered: MediaInterval) -> MediaInterval {
        let uplink = MediaInterval.milliseconds(uplinks[uid]?.delay ?? 0)
        return uplink + (path?.roundTrip ?? .zero) * 0.5 + buffered + .samples(2 * AudioPacket.samples)
    }
}
