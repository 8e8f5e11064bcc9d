/// The packets of one speaker in a slot, in the order of their timestamps, without gaps of the numbers' wrapping.
struct AudioStream: Sendable {
    /// A packet with its timestamp counted on over wraps.
    struct Waiting: Sendable {
        var packet: AudioPacket
        var timestamp: Int64
    }

    /// What became of a packet.
    enum Arrival {
        case taken
        /// Taken, and the oldest one was pushed out.
        case takenForOldest
        case duplicate
        case late
    }

    /// What is there in a frame's turn.
    enum Turn {
        case packet(AudioPacket)
        /// Nothing; the packet of the frame after it, when that is there.
        case lost(next: AudioPacket?)
        /// Nothing yet; the turn stays.
        case awaited
    }

    /// A frame that was left out, and why.
    enum LeftOut {
        case none
        case silent
        case late
    }

    let speaker: UInt32
    /// What waits, in order.
    private(set) var queue: [Waiting] = []
    /// The timestamp of the frame whose turn it is; nil until the first one is played.
    private(set) var due: Int64?
    /// The frames in a row without a packet.
    private(set) var missing = 0
    private(set) var estimate = DelayEstimate()
    private var newest: (sequence: UInt16, timestamp: Int64)
    /// Which of the 64 sequence numbers up to the newest came: bit 0 is the newest.
    private var seen: UInt64 = 0

    init(first packet: AudioPacket, arrival: MediaInstant) {
        speaker = packet.speaker
        newest = (packet.sequence &- 1, Int64(packet.timestamp))
        _ = put(packet, arrival: arrival)
    }

    /// Whether the packet has a sequence number or a timestamp that cannot belong to this stream.
    func isFar(_ packet: AudioPacket) -> Bool {
        abs(Int(distance(of: packet))) > JitterBuffer.greatestJump.packets
            || abs(extended(packet) - newest.timestamp) > JitterBuffer.greatestJump.samples
    }

    /// Whether the packet's sequence number is beyond all that came.
    func isNewest(_ packet: AudioPacket) -> Bool { distance(of: packet) > 0 }

    /// How much later than the fastest packets could be played the frame is played at that time.
    func delay(of timestamp: Int64, now: MediaInstant) -> MediaInterval {
        estimate.delay(of: .samples(timestamp), now: now) ?? .zero
    }

    mutating func put(_ packet: AudioPacket, arrival: MediaInstant) -> Arrival {
        let timestamp = extended(packet)
        guard markSeen(packet, timestamp: timestamp) else { return .duplicate }
        // Those that came too late count too: they are what lengthens the delay.
        estimate.put(arrival: arrival, position: .samples(timestamp))
        if let due, timestamp < due - AudioPacket.samples / 2 { return .late }
        let index = (queue.lastIndex { $0.timestamp <= timestamp } ?? -1) + 1
        if index > 0, queue[index - 1].timestamp == timestamp { return .duplicate }
        queue.insert(Waiting(packet: packet, timestamp: timestamp), at: index)
        guard queue.count > JitterBuffer.capacity else { return .taken }
        let oldest = queue.removeFirst()
        due = due.map { max($0, oldest.timestamp + AudioPacket.samples) }
        return .takenForOldest
    }

    /// Whether the stream is played: the first packet's frame has its turn as soon as its delay reaches the target.
    mutating func start(now: MediaInstant) -> Bool {
        if due != nil { return true }
        guard let first = queue.first, delay(of: first.timestamp, now: now) >= estimate.target else { return false }
        due = first.timestamp
        return true
    }

    /// Leaves out the frame that is due when the delay is too long and the frame is silent, or the delay beyond its
    /// bound.
    mutating func leaveOut(now: MediaInstant) -> LeftOut {
        guard let due, let head = queue.first, isTurn(of: head, due: due), queue.count > 1 else { return .none }
        let delay = delay(of: due, now: now)
        let isBeyond = delay > JitterBuffer.greatestDelay
        guard isBeyond || head.packet.isSilence && delay >= estimate.target + .samples(AudioPacket.samples) else {
            return .none
        }
        queue.removeFirst()
        self.due = head.timestamp + AudioPacket.samples
        return isBeyond ? .late : .silent
    }

    /// Takes the frame that is due at that time.
    mutating func take(now: MediaInstant) -> Turn {
        guard let due else { return .awaited }
        if let head = queue.first, isTurn(of: head, due: due) {
            queue.removeFirst()
            self.due = head.timestamp + AudioPacket.samples
            missing = 0
            return .packet(head.packet)
        }
        missing += 1
        guard delay(of: due, now: now) >= estimate.target else { return .awaited }
        self.due = due + AudioPacket.samples
        guard let head = queue.first, isTurn(of: head, due: due + AudioPacket.samples) else { return .lost(next: nil) }
        return .lost(next: head.packet)
    }

    /// Senders may begin a frame a little off the grid, so the nearest one counts.
    private func isTurn(of waiting: Waiting, due: Int64) -> Bool { waiting.timestamp < due + AudioPacket.samples / 2 }

    private func distance(of packet: AudioPacket) -> Int16 { Int16(bitPattern: packet.sequence &- newest.sequence) }

    private func extended(_ packet: AudioPacket) -> Int64 {
        newest.timestamp + Int64(Int32(bitPattern: packet.timestamp &- UInt32(truncatingIfNeeded: newest.timestamp)))
    }

    /// Whether the packet came for the first time, as far back as 64 packets.
    private mutating func markSeen(_ packet: AudioPacket, timestamp: Int64) -> Bool {
        let distance = Int(distance(of: packet))
        guard distance <= 0 else {
            seen = distance < 64 ? seen << UInt64(distance) | 1 : 1
            newest = (packet.sequence, timestamp)
            return true
        }
        // Older ones are late whether they came or not.
        guard distance > -64 else { return true }
        let bit: UInt64 = 1 << UInt64(-distance)
        defer { seen |= bit }
        return seen & bit == 0
    }
}
