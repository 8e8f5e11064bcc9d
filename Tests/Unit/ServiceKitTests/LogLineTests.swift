import Logging
import Synchronization
import Testing

@testable import ServiceKit

@Suite("Log lines")
struct LogLineTests {
    private func line(_ message: String, _ metadata: Logger.Metadata, _ format: LogFormat) -> String {
        let time = Timestamp(secondsSince1970: 1_700_000_000, milliseconds: 7)
        let line = LogLine(time: time, level: .notice, label: "l", message: message, metadata: metadata)
        return String(decoding: line.bytes(format), as: UTF8.self)
    }

    @Test("JSON lines escape every special character")
    func json() {
        #expect(
            line("a \"b\"\n", ["z": "1", "a": "\u{1}ü"], .json)
                == #"{"time":"2023-11-14T22:13:20.007Z","level":"notice","label":"l","message":"a \"b\"\n","#
                + #""metadata":{"a":"\u0001ü","z":"1"}}"# + "\n")
    }

    @Test("Every character that a terminal might obey is escaped")
    func controlCharacters() {
        let controls = String(
            String.UnicodeScalarView((0...0x20).map { Unicode.Scalar($0) } + ["\u{7F}", "/", "\\", "é"]))
        #expect(
            line(controls, [:], .json)
                == #"{"time":"2023-11-14T22:13:20.007Z","level":"notice","label":"l","message":""#
                + #"\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\u0008\u0009\n\u000b\u000c\u000d\u000e\u000f"#
                + #"\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f"#
                + #" \u007f/\\é"}"# + "\n")
    }

    @Test("Text lines escape line ends, so that a value cannot forge a line")
    func text() {
        #expect(
            line("a\nb", ["k": "v w", "e": "", "n": "x\ny"], .text)
                == #"2023-11-14T22:13:20.007Z notice a b e="" k="v w" n="x\ny""# + "\n")
    }

    @Test("A value of visible characters cannot be taken for other pairs")
    func visible() {
        let id = #"x"y=1\,request=z"#
        #expect(
            line("a", ["k": .string(id), "n": "b=c"], .text).hasSuffix(#" a k="x\"y=1\\,request=z" n="b=c""# + "\n"))
        #expect(line("a", ["k": .string(id)], .json).hasSuffix(#""metadata":{"k":"x\"y=1\\,request=z"}}"# + "\n"))
    }

    @Test("Long values are truncated")
    func bound() {
        let text = line(String(repeating: "x", count: 2 * LogLine.textBound), [:], .text)
        #expect(text.utf8.count < LogLine.textBound + 100)
    }

    @Test("The metadata of the logger and of the call are merged")
    func handler() {
        let lines = Mutex<[String]>([])
        let output = LogOutput { line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
        var logger = Logger(label: "l") { LineLogHandler(label: $0, format: .text, logLevel: .info, output: output) }
        logger[metadataKey: "service"] = "presence"
        logger.debug("unseen")
        logger.info("seen", metadata: ["account": "a"])
        let all = lines.withLock { $0 }
        #expect(all.count == 1)
        #expect(all.first?.hasSuffix(" info seen account=a service=presence\n") == true)
    }

    @Test("Lines are written elsewhere, in their order; what exceeds the bound while nobody reads is dropped")
    func queue() {
        let lines = Mutex<[String]>([])
        let later = Mutex<[@Sendable () -> Void]>([])
        let output = LogOutput(
            bound: 10, { line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } },
            on: { work in later.withLock { $0.append(work) } })
        for line in ["first", "other", "more", "x"] { output.append(Array(line.utf8)) }
        #expect(lines.withLock { $0 } == [], "the caller does not write")
        // Taken out: what is kept here keeps the output, which keeps this.
        func works() -> [@Sendable () -> Void] {
            later.withLock { works in
                defer { works = [] }
                return works
            }
        }
        let first = works()
        #expect(first.count == 1)
        for work in first { work() }
        #expect(lines.withLock { $0 } == ["first", "other"])
        output.append(Array("again".utf8))
        let second = works()
        #expect(second.count == 1)
        output.flush()
        for work in second { work() }
        #expect(lines.withLock { $0 } == ["first", "other", "again"], "each is written once")
    }
}
