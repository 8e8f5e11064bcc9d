import CMedia
import CMediaNode

/// The bytes of hexadecimal digits; spaces are allowed.
func hex(_ digits: String) -> [UInt8] {
    let values = digits.compactMap(\.hexDigitValue)
    return stride(from: 0, to: values.count - 1, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
}

func big(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

/// The bytes of an array of C, which is a tuple here.
func bytes<Value: BitwiseCopyable>(of value: Value, _ range: Range<Int>) -> [UInt8] {
    withUnsafeBytes(of: value) { Array($0[range]) }
}

/// Bytes with a size, as C takes them.
func withBytes<Result>(_ bytes: [UInt8], _ body: (cm_bytes) -> Result) -> Result {
    bytes.withUnsafeBufferPointer { body(cm_bytes(data: $0.baseAddress, size: $0.count)) }
}

/// Both suites, in a type that test arguments can have.
enum Suite: CaseIterable, Sendable {
    case gcm, counter

    var code: cm_suite { self == .gcm ? CM_SUITE_GCM_128 : CM_SUITE_CM_128_SHA1_80 }
    var tagSize: Int { self == .gcm ? 16 : 10 }
    /// Any key with its salt.
    var keyAndSalt: [UInt8] { (0..<cm_suite_size(code)).map { UInt8($0 * 7 + 3) } }
}
