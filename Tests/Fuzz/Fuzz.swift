import CFuzz
import Glibc

/// Feeds one target with what libFuzzer thinks of: `fuzz TARGET [options of libFuzzer] [corpora]`, or `fuzz --list`.
@main enum Fuzz {
    /// Set once, before the first input; C callbacks have no context.
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
        // libFuzzer wants the program's name first, and starts it again by that.
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

/// An entry point that strangers' bytes reach.
struct FuzzTarget: Sendable {
    let name: String
    let run: @Sendable (FuzzInput) -> Void

    init(_ name: String, _ run: @escaping @Sendable (FuzzInput) -> Void) {
        self.name = name
        self.run = run
    }

    static let all: [FuzzTarget] = wire + cluster + secrets + sip

    /// Breaks at an input that only a fuzzer comes to, step by step: shows that inputs are judged and led. Not listed.
    static let selfTest = FuzzTarget("self-test") { input in
        let bytes = input.bytes
        let calls =
            bytes.count >= 4 && bytes[0] == UInt8(ascii: "S") && bytes[1] == UInt8(ascii: "O")
            && bytes[2] == UInt8(ascii: "S") && bytes[3] == UInt8(ascii: "!")
        holds(!calls, "no input calls for help")
    }
}

/// Says that something holds for every input; where it does not, the fuzzer keeps the input.
func holds(_ condition: @autoclosure () -> Bool, _ what: String) {
    if !condition() { fatalError("does not hold: \(what)") }
}
