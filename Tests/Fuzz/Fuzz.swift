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

/// Ends the run: libFuzzer saves the input, and prints how the program got here.
func found(_ what: String) { fatalError("does not hold: \(what)") }
