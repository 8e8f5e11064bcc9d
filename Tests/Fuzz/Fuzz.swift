import CFuzz
import Glibc

/// Runs one target with the inputs of libFuzzer: `fuzz TARGET [options of libFuzzer] [corpora]`, or `fuzz --list`.
@main enum Fuzz {
    /// The target; set once before the first input, because libFuzzer's C callback has no context argument.
    nonisolated(unsafe) private static var run: (FuzzInput) -> Void = { _ in }

    static func main() {
        guard CommandLine.argc > 1, case let name = CommandLine.arguments[1], name != "--list" else {
            print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
            return
        }
        guard let target = (FuzzTarget.all + [.selfTest]).first(where: { $0.name == name }) else {
            fatalError("there is no target \(name); see fuzz --list")
        }
        run = target.run
        // libFuzzer expects the program's name first, and restarts the program by that name.
        var arguments = [CommandLine.unsafeArgv[0]] + (2..<Int(CommandLine.argc)).map { CommandLine.unsafeArgv[$0] }
        arguments.append(nil)
        var count = CommandLine.argc - 1
        let status = arguments.withUnsafeMutableBufferPointer { buffer in
            var base = buffer.baseAddress
            return LLVMFuzzerRunDriver(&count, &base) { data, size in
                Fuzz.run(FuzzInput(UnsafeBufferPointer(start: data, count: size)))
                return 0
            }
        }
        exit(status)
    }
}

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

/// Requires that a condition holds for every input; the fuzzer saves an input for which it does not.
func holds(_ condition: @autoclosure () -> Bool, _ what: String) {
    if !condition() { fatalError("does not hold: \(what)") }
}
