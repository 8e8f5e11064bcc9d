import MediaEngineLogic

/// A network that loses, delays, reorders and repeats the packets of one sender: one each 20 ms, the same in each run.
struct NetworkModel {
    /// A packet that arrives.
    struct Delivery {
        var packet: AudioPacket
        /// Which of the sender's packets it is.
        var index: Int
        /// When it was sent, in milliseconds.
        var sent: Double
        var arrival: MediaInstant
    }

    var loss = 0.0
    var duplicates = 0.0
    /// Milliseconds that each packet takes: this, and a random part up to `jitter`.
    var delay = 30.0
    var jitter = 0.0
    var firstSequence: UInt16 = 65_500
    var firstTimestamp = UInt32.max - 50_000

    /// The packets of that many frames, by arrival.
    func deliveries(frames: Int, seed: UInt64) -> [Delivery] {
        var random = SeededGenerator(seed: seed)
        var all: [Delivery] = []
        for index in 0..<frames {
            let packet = AudioPacket(
                sequence: firstSequence &+ UInt16(truncatingIfNeeded: index),
                timestamp: firstTimestamp &+ UInt32(index * 960), speaker: 7, payload: [UInt8](repeating: 1, count: 80))
            let copies = Double.random(in: 0..<1, using: &random) < duplicates ? 2 : 1
            for _ in 0..<copies where Double.random(in: 0..<1, using: &random) >= loss {
                let sent = Double(index) * 20
                let taken = delay + (jitter > 0 ? Double.random(in: 0..<jitter, using: &random) : 0)
                all.append(
                    Delivery(
                        packet: packet, index: index, sent: sent,
                        arrival: MediaInstant(microseconds: Int64((sent + taken) * 1000))))
            }
        }
        return all.sorted { ($0.arrival, $0.index) < ($1.arrival, $1.index) }
    }
}

/// A frame that a buffer gave, and when.
struct Played {
    var frame: PlayoutFrame
    var time: MediaInstant
}

extension JitterBuffer {
    /// Plays what a network delivers: the frames of those ticks of 20 ms, each `phase` milliseconds after its tick.
    mutating func run(_ deliveries: [NetworkModel.Delivery], ticks: Range<Int>, phase: Double = 0) -> [Played] {
        func time(_ tick: Int) -> MediaInstant {
            MediaInstant(microseconds: Int64((Double(tick) * 20 + phase) * 1000))
        }
        var waiting = deliveries.drop { $0.arrival <= time(ticks.lowerBound - 1) && ticks.lowerBound > 0 }
        return ticks.map { tick in
            while let delivery = waiting.first, delivery.arrival <= time(tick) {
                put(delivery.packet, arrival: delivery.arrival)
                waiting.removeFirst()
            }
            return Played(frame: play(now: time(tick)), time: time(tick))
        }
    }
}
