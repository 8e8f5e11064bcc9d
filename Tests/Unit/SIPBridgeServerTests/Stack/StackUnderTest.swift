@testable import SIPBridgeLogic
@testable import SIPBridgeServer

/// A SIP stack on the loopback address that records all that it reports.
@SIPThread
final class StackUnderTest {
    let stack: SIPStack
    let requests = Mailbox<SIPServerRequest>()
    let strays = Mailbox<SIPMessage>()
    let traces = Mailbox<SIPTraceRecord>()
    let drops = Mailbox<SIPDropReason>()

    init(_ configuration: SIPStackConfiguration = SIPStackConfiguration(port: 0)) throws {
        stack = try SIPStack(configuration)
        stack.onRequest = { [requests] in requests.put($0) }
        stack.onFurther2xx = { [strays] in strays.put($0) }
        stack.onTrace = { [traces] in traces.put($0) }
        stack.onDrop = { [drops] in drops.put($0) }
    }

    /// Sends a request and collects its events in a mailbox.
    func invite(
        _ dialog: SIPDialog, _ method: String = "INVITE", headers: [SIPHeaderField] = [], body: SIPBody? = nil
    ) throws -> (SIPClientRequest, Mailbox<SIPResponseEvent>) {
        let events = Mailbox<SIPResponseEvent>()
        let request = try dialog.request(method, headers: headers, body: body) { events.put($0) }
        return (request, events)
    }
}

extension Mailbox where Item == SIPResponseEvent {
    /// The next final response; provisional ones are skipped.
    func final() async throws -> SIPMessage {
        while true {
            switch await next() {
            case .provisional: continue
            case .final(let message): return message
            case .failed(let code): throw SIPError(code: code, act: "await a response")
            }
        }
    }
}

/// Runs a test with two stacks.
@SIPThread
func withTwoStacks(
    _ body: @SIPThread (_ caller: StackUnderTest, _ callee: StackUnderTest) async throws -> Void
) async throws {
    let caller = try StackUnderTest()
    defer { caller.stack.close() }
    let callee = try StackUnderTest()
    defer { callee.stack.close() }
    try await body(caller, callee)
}
