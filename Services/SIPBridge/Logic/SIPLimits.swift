/// The bounds of what the listener reads.
public enum SIPLimits {
    /// Bytes of one message.
    public static let messageBytes = 16_384
    /// Header fields of one message, and `Via` values.
    public static let headers = 128
    /// Bytes of a method's name.
    public static let methodBytes = 64
}
