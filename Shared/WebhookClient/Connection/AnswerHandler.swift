internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

/// What becomes of an answer, and how much of its body is read.
struct ExpectedAnswer: Sendable {
    let promise: EventLoopPromise<WebhookAnswer>
    let bound: Int
}

/// A connection ended before the first byte of an answer. One that was used before had then probably been closed by
/// its server before the request came.
struct Unanswered: Error {}

/// Takes one answer after the other: its status, and a bounded part of its body.
final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private var expected: ExpectedAnswer?
    private var status: Int?
    private var body: [UInt8] = []
    private var mayFollow = false
    /// Why the connection cannot be used any longer.
    private var ending: (any Error)?
    private var waiting: Scheduled<Void>?
    /// How much of the answer came before the end of its head.
    private(set) var headBytes = 0
    /// Whether the whole request was sent.
    var isSent = false

    /// Whether the head of the answer has come.
    var hasHead: Bool { status != nil }

    /// Whether the last answer came whole, and another request may follow.
    var isFree: Bool { expected == nil && ending == nil && mayFollow && isSent }

    /// Takes the next answer for a request that is sent now.
    func expect(_ answer: ExpectedAnswer) {
        waiting?.cancel()
        waiting = nil
        if let ending { return answer.promise.fail(ending) }
        expected = answer
        status = nil
        body = []
        mayFollow = false
        headBytes = 0
        isSent = false
    }

    /// Closes the channel when no request comes within a time.
    func wait(atMost time: TimeAmount, on channel: any Channel) {
        waiting = channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }

    /// Counts bytes that have come before the head's end.
    func countHead(_ bytes: Int) { headBytes += bytes }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Drops the rest of an answer that was too long. An answer without a request cannot come here: the decoder
        // refuses it.
        guard let expected else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            status = Int(head.status.code)
            mayFollow = head.isKeepAlive
        case .body(let part):
            let room = expected.bound - body.count
            body.append(contentsOf: part.readableBytesView.prefix(room))
            if part.readableBytes > room { finish() }
        case .end: finish(isWhole: true)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(because: Unanswered())
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is NIOSSLError || error is BoringSSLError {
            end(because: WebhookFailure(.connect, "TLS failed"))
        } else if error as? HTTPParserError == .headerOverflow, !hasHead {
            end(
                because: WebhookFailure(
                    .broken, "the answer's head has more than \(WebhookTransport.headBytes) bytes"))
        } else {
            end(because: Unanswered())
        }
        context.close(promise: nil)
    }

    private func end(because reason: any Error) {
        waiting?.cancel()
        if ending == nil { ending = reason }
        guard let expected else { return }
        switch reason {
        case is Unanswered: finish()
        default:
            self.expected = nil
            expected.promise.fail(reason)
        }
    }

    private func finish(isWhole: Bool = false) {
        guard let expected else { return }
        self.expected = nil
        if !isWhole { mayFollow = false }
        if let status {
            expected.promise.succeed(WebhookAnswer(status: status, body: body, isWhole: isWhole))
        } else if headBytes == 0 {
            expected.promise.fail(Unanswered())
        } else {
            expected.promise.fail(WebhookFailure(.broken, "the connection ended without an answer"))
        }
    }
}

/// Counts the bytes that come before the answer's head has ended. The decoder bounds each head by itself, but passes
/// over any number of informational ones.
final class HeadBound: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let answer: AnswerHandler

    init(of answer: AnswerHandler) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !answer.hasHead else { return context.fireChannelRead(data) }
        answer.countHead(unwrapInboundIn(data).readableBytes)
        context.fireChannelRead(data)
        if answer.headBytes > WebhookTransport.headBytes, !answer.hasHead {
            context.fireErrorCaught(HTTPParserError.headerOverflow)
        }
    }
}
