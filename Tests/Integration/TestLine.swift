/// Secrets of lines, as long as those that gateways make.
enum TestLine {
    static let secret = "0123456789abcdef0123456789abcdef"
    static let otherSecret = "ffffffffffffffffffffffffffffffff"
}
