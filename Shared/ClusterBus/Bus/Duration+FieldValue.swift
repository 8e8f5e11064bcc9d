package import BusProtocol
internal import Pacing
internal import RedisClient
package import SignalingProtocol

extension Duration: FieldValue {
    /// Adds the whole milliseconds.
    package func put(as name: String, in writer: inout FieldWriter) {
        writer.put(name, wholeMilliseconds)
    }
    /// Reads milliseconds.
    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        self = .milliseconds(try reader.int64(name))
    }
}
