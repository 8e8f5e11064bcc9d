/// The buckets over which users are spread, and in a cluster also gateways' topics; and the hash tag of each.
///
/// Bucket `b` lies in slot `4b`. So the buckets are spread evenly over the slots, whatever the number of masters, while
/// the number of topics that a gateway must subscribe to stays at ``count``.
package struct Buckets: Sendable {
    /// The number of buckets.
    package static let count = 4096

    /// The distance between the slots of neighbouring buckets.
    package static let slotsPerBucket = KeySlot.count / count

    /// The buckets' tags. Computed at first use, which takes some milliseconds: use it once at start.
    package static let shared = Buckets()

    /// The tag of each bucket, without braces: one to four digits and lower-case letters.
    private let tags: [String]

    /// Finds a tag for each bucket: the first text that has the bucket's slot, of all texts of one digit or
    /// letter, then of two, three and four, each in alphabetical order. The tags are part of the keys' names, so
    /// that this order must never change.
    package init() {
        var tags = [String](repeating: "", count: Self.count)
        var missing = Self.count
        var text: [UInt8] = []
        while missing > 0 {
            Self.advance(&text)
            let slot = Int(KeySlot.of(text.span))
            let bucket = slot / Self.slotsPerBucket
            guard slot % Self.slotsPerBucket == 0, tags[bucket].isEmpty else { continue }
            tags[bucket] = String(decoding: text, as: UTF8.self)
            missing -= 1
        }
        self.tags = tags
    }

    /// The hash tag of a bucket, without braces.
    package func tag(_ bucket: Int) -> String { tags[bucket] }

    /// The bucket of a user.
    /// - Parameter text: what names the user in keys, ``KeySpace/name(_:)``.
    package static func bucket(of text: String) -> Int { Int(KeySlot.crc16(of: text)) % count }

    /// The slot of a bucket's keys.
    package static func slot(ofBucket bucket: Int) -> UInt16 { UInt16(bucket * slotsPerBucket) }

    /// Goes on to the next text: counts up in digits and letters, and after the last text of a length
    /// to the first of the next length.
    private static func advance(_ text: inout [UInt8]) {
        for place in text.indices.reversed() {
            if text[place] != UInt8(ascii: "z") {
                text[place] = text[place] == UInt8(ascii: "9") ? UInt8(ascii: "a") : text[place] + 1
                return
            }
            text[place] = UInt8(ascii: "0")
        }
        text.append(UInt8(ascii: "0"))
    }
}

/// The parts into which command streams, timers and mirrors are divided: each covers a contiguous range of slots. Its
/// keys lie in that range too, so that as a rule they are on the same master as the data that they are about.
package struct Partitions: Sendable, Equatable {
    /// The number of partitions: 1 on a single Redis.
    package let count: Int

    /// - Parameter count: 1 to ``Buckets/count``, because each partition needs a bucket of its own.
    package init(count: Int) {
        precondition((1...Buckets.count).contains(count), "the number of partitions is not 1...\(Buckets.count)")
        self.count = count
    }

    /// The partition that covers a slot.
    package func partition(ofSlot slot: UInt16) -> Int { Int(slot) * count / KeySlot.count }

    /// The bucket in which the partition's own keys lie: the first in its range of slots.
    package func bucket(ofPartition partition: Int) -> Int { (partition * Buckets.count + count - 1) / count }
}
