internal import BusProtocol
internal import SignalingProtocol

/// The ends of the services that keys are for.
extension MediaNode {
    /// How long a participant without a valid key has for a new one.
    static let keyPatience = Duration.seconds(15)
    /// How often ``checkKeys()`` is to be called.
    static let keyPause = Duration.milliseconds(250)

    /// Silences participants whose key has ended, and ends those who have got no new one in time.
    func checkKeys() async {
        let (now, time) = (surroundings.now(), surroundings.unixTime())
        for (pid, participant) in participants where participant.expiry != 0 {
            if let ended = participant.keyEnded {
                if ended + Self.keyPatience <= now { await endOfKey(pid) }
            } else if participant.expiry <= time {
                update(pid) { $0.keyEnded = now }
                surroundings.publish(
                    participant.asker,
                    MediaPublication(participants: [pid], channel: participant.channel.name, event: .key))
                await surroundings.paths.allow(participant.id, allowed(pid))
            }
        }
    }

    private func endOfKey(_ pid: ParticipantID) async {
        // A new key may have come while another participant's end was awaited.
        guard participants[pid]?.keyEnded != nil, let participant = end(pid, .dropped) else { return }
        tellEnd(.key, of: pid, participant)
        _ = await surroundings.paths.close(participant.id)
    }
}
