internal import MediaEngineLogic

/// Everything that is heard: the slots, who is muted for the user, and their sum.
struct IncomingAudio {
    /// The most users whose mutes are remembered, and the most whose gains; further ones are ignored.
    static let muteBound = 10_000

    /// The slots by their SSRCs.
    private var slots: [UInt32: SlotPlayer] = [:]
    /// In the order of the answer, which does not change from mix to mix.
    private var order: [UInt32] = []
    private var mixer = AudioMixer()
    /// Users who are played or not, against `isAllMuted`.
    private var exceptions: Set<UInt32> = []
    private var isAllMuted = false
    /// The factor of what is played, 0...4.
    var gain = 1.0
    /// The factors of single users, where they are not 1.
    private var gains: [UInt32: Double] = [:]

    /// What one user says in 20 ms.
    struct Voice {
        var uid: UInt32
        var samples: [Int16]
        /// Whether the user is left out of what is played.
        var isMuted: Bool
    }

    /// 20 ms of what is played.
    struct Mix {
        var samples: [Int16]
        /// All who are heard, those too who are muted.
        var voices: [Voice]
    }

    /// Takes the slots of an answer; those that are there already go on.
    /// - Throws: ``MediaError/codecFailed``.
    mutating func setSlots(_ ssrcs: [UInt32]) throws(MediaError) {
        var kept: [UInt32: SlotPlayer] = [:]
        for ssrc in ssrcs {
            if let slot = slots[ssrc] { kept[ssrc] = slot } else { kept[ssrc] = try SlotPlayer() }
        }
        slots = kept
        // A slot that an answer names twice is one: played twice, it would lose every other frame to its second turn.
        var seen: Set<UInt32> = []
        order = ssrcs.filter { seen.insert($0).inserted }
    }

    /// Whether the SSRC is that of a slot.
    func has(_ ssrc: UInt32) -> Bool { slots[ssrc] != nil }

    mutating func put(_ packet: AudioPacket, on ssrc: UInt32, arrival: MediaInstant) {
        slots[ssrc]?.put(packet, arrival: arrival)
    }

    mutating func mute(_ isMuted: Bool, uid: UInt32) {
        if isMuted == isAllMuted {
            exceptions.remove(uid)
        } else if exceptions.count < Self.muteBound {
            exceptions.insert(uid)
        }
    }

    /// Sets the factor of one user, as many as mutes are remembered.
    mutating func setGain(_ gain: Double, uid: UInt32) {
        let gain = AudioMixer.bounded(gain)
        if gain == 1 {
            gains[uid] = nil
        } else if gains[uid] != nil || gains.count < Self.muteBound {
            gains[uid] = gain
        }
    }

    /// The factor of one user.
    func gain(of uid: UInt32) -> Double { gains[uid] ?? 1 }

    /// Mutes or plays everybody, those too who come later; what was set for single users is forgotten.
    mutating func muteAll(_ isMuted: Bool) {
        isAllMuted = isMuted
        exceptions = []
    }

    func isMuted(_ uid: UInt32) -> Bool { exceptions.contains(uid) != isAllMuted }

    /// The next 20 ms. Muted users are decoded too, so that they are there at once when they are played again.
    mutating func play(now: MediaInstant) -> Mix {
        var voices: [Voice] = []
        var inputs: [AudioMixer.Input] = []
        for ssrc in order {
            guard let samples = slots[ssrc]?.play(now: now), let speaker = slots[ssrc]?.speaker else { continue }
            let isMuted = isMuted(speaker)
            voices.append(Voice(uid: speaker, samples: samples, isMuted: isMuted))
            if !isMuted { inputs.append(AudioMixer.Input(samples: samples, gain: gain * gain(of: speaker))) }
        }
        // Both errors are of a wrong number or length of inputs; slots are bounded where the answer is read.
        guard let mixed = try? mixer.mix(inputs) else { return Mix(samples: Self.silence, voices: []) }
        return Mix(samples: mixed, voices: voices)
    }

    /// What happened to the frames of all slots.
    var playout: MediaStatistics.Playout {
        slots.values.reduce(into: MediaStatistics.Playout()) { sum, slot in
            let counts = slot.counts
            sum.played += counts.played
            sum.recovered += counts.recovered
            sum.concealed += counts.concealed
            sum.late += counts.late
        }
    }

    /// How long each of those who are heard waits.
    var delays: [(uid: UInt32, delay: MediaInterval)] {
        slots.values.compactMap { slot in slot.speaker.map { ($0, slot.delay) } }
    }

    private static let silence = [Int16](repeating: 0, count: Int(AudioPacket.samples))
}
