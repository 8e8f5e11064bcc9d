/// A part of the system that reads bytes from outside.
struct FuzzTarget: Sendable {
    let name: String
    let run: @Sendable (FuzzInput) -> Void

    init(_ name: String, _ run: @escaping @Sendable (FuzzInput) -> Void) {
        self.name = name
        self.run = run
    }

    static let all: [FuzzTarget] = wire + cluster + secrets + sip + media + mediaClient

    /// Fails for one input that a fuzzer reaches only step by step, which shows that coverage guides it and failures
    /// are found. Not listed.
    static let selfTest = FuzzTarget("self-test") { input in
        let bytes = input.bytes
        let calls =
            bytes.count >= 4 && bytes[0] == UInt8(ascii: "S") && bytes[1] == UInt8(ascii: "O")
            && bytes[2] == UInt8(ascii: "S") && bytes[3] == UInt8(ascii: "!")
        holds(!calls, "no input calls for help")
    }
}

/// Requires that a condition holds for every input; what happens when it does not is the matter of who runs the target.
func holds(_ condition: @autoclosure () -> Bool, _ what: String) {
    if !condition() { found(what) }
}
