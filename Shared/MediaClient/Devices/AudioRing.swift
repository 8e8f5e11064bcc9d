internal import CAudioRing

/// Samples on their way between a device's thread and the client's event loop, neither of which waits for the other.
///
/// It is `@unchecked Sendable` because the C ring is made for one writing and one reading thread, which hand positions
/// to each other by atomic operations; the pointer never changes, and who calls keeps to one thread for each direction.
final class AudioRing: @unchecked Sendable {
    /// How many samples find room.
    let capacity: Int
    private let ring: OpaquePointer

    /// Makes a ring.
    /// - Parameter capacity: in samples, a power of two.
    init(capacity: Int) {
        guard capacity > 0, let ring = car_ring_make(capacity) else {
            preconditionFailure("no ring of \(capacity) samples: it is no power of two, or memory is short")
        }
        self.capacity = capacity
        self.ring = ring
    }

    deinit { car_ring_free(ring) }

    /// The samples that wait. The reading thread may read that many, also when others come meanwhile.
    var count: Int { car_ring_count(ring) }

    /// The most samples that were asked for at once, all that were, and how many of all were not there.
    var demand: (largest: Int, asked: Int, missed: Int) {
        let demand = car_ring_demand(ring)
        return (demand.largest, demand.asked, demand.missed)
    }

    /// All samples that were to be written so far, also those without room.
    var offered: Int { car_ring_offered(ring) }

    /// Writes samples; called by the writing thread alone.
    /// - Returns: how many found room; the others are left out.
    func write(_ samples: UnsafeBufferPointer<Int16>) -> Int {
        guard let start = samples.baseAddress else { return 0 }
        return car_ring_write(ring, start, samples.count)
    }

    /// Reads samples into the beginning of a buffer; called by the reading thread alone.
    /// - Returns: how many there were; what follows them in the buffer is not changed.
    func read(into samples: UnsafeMutableBufferPointer<Int16>) -> Int {
        guard let start = samples.baseAddress else { return 0 }
        return car_ring_read(ring, start, samples.count)
    }
}
