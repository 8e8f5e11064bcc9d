import CMedia

/// A C struct at a fixed address, all zero at first.
final class Kept<Value> {
    let pointer: UnsafeMutablePointer<Value>

    init() {
        pointer = .allocate(capacity: 1)
        UnsafeMutableRawPointer(pointer).initializeMemory(
            as: UInt8.self, repeating: 0, count: MemoryLayout<Value>.size)
    }

    deinit { UnsafeMutableRawPointer(pointer).deallocate() }
}

/// A packet of a test.
struct Packet {
    var payloadType: UInt8 = 111
    var isMarked = false
    var sequence: UInt16 = 1
    var timestamp: UInt32 = 960
    var ssrc: UInt32 = 0x1234_5678
    var sources: [UInt32] = []
    /// Profile and elements of the extension.
    var extensions: (profile: UInt16, elements: [UInt8])?
    var payload: [UInt8] = [1, 2, 3, 4]
    var padding: [UInt8] = []

    var bytes: [UInt8] {
        var bytes: [UInt8] = [
            0x80 | (padding.isEmpty ? 0 : 0x20) | (extensions == nil ? 0 : 0x10) | UInt8(sources.count),
            (isMarked ? 0x80 : 0) | payloadType,
        ]
        bytes += big(sequence) + big(timestamp) + big(ssrc)
        for source in sources { bytes += big(source) }
        if let extensions {
            let padded = extensions.elements + [UInt8](repeating: 0, count: (4 - extensions.elements.count % 4) % 4)
            bytes += big(extensions.profile) + big(UInt16(padded.count / 4)) + padded
        }
        return bytes + payload + padding
    }
}

func big(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

/// The header of a packet; nil when it is refused. Reads a copy that ends where the packet ends.
func header(_ bytes: [UInt8]) -> cm_rtp? {
    var rtp = cm_rtp()
    return cm_rtp_read(&rtp, bytes, bytes.count) ? rtp : nil
}
