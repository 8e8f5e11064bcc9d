internal import ArgumentParser
internal import NIOCore
internal import NIOPosix

/// The address of a process's `/metrics` on the command line: `http://HOST:PORT[/metrics]`.
struct MetricsArgument: ExpressibleByArgument, Hashable {
    let host: String
    let port: Int

    init?(argument: String) {
        var rest = argument[...]
        guard rest.hasPrefix("http://") else { return nil }
        rest = rest.dropFirst(7)
        if let slash = rest.firstIndex(of: "/") {
            guard ["/", "/metrics"].contains(String(rest[slash...])) else { return nil }
            rest = rest[..<slash]
        }
        guard let address = SIPAddressArgument(argument: String(rest)), let port = address.port else { return nil }
        (host, self.port) = (address.host, port)
    }
}

/// Reads what processes count.
enum MetricsReader {
    private static let patience = TimeAmount.seconds(1)
    /// The largest answer.
    private static let bound = 4 << 20

    /// The sums of the samples of processes.
    struct Sums: Sendable {
        /// By the sample's name with its labels.
        private(set) var values: [String: Double] = [:]
        /// How many processes answered.
        private(set) var answers = 0

        subscript(sample: String) -> Double { values[sample] ?? 0 }

        mutating func add(_ text: Substring) {
            answers += 1
            for line in text.split(separator: "\n") where !line.hasPrefix("#") {
                guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
                    continue
                }
                values[String(line[..<space]), default: 0] += value
            }
        }
    }

    /// Asks processes, all at once. Those that do not answer are left out.
    static func read(_ places: [MetricsArgument]) async -> Sums {
        await withTaskGroup(of: String?.self) { tasks in
            for place in places { tasks.addTask { await page(of: place) } }
            var sums = Sums()
            for await page in tasks {
                guard let page, page.hasPrefix("HTTP/1."), page.dropFirst(9).hasPrefix("200"),
                    let body = page.firstRange(of: "\r\n\r\n")
                else { continue }
                sums.add(page[body.upperBound...])
            }
            return sums
        }
    }

    private static func page(of place: MetricsArgument) async -> String? {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let done = loop.makePromise(of: String?.self)
        let connected = ClientBootstrap(group: loop).connectTimeout(patience)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(done: done))
                }
            }
            .connect(host: place.host, port: place.port)
        connected.whenFailure { _ in done.succeed(nil) }
        connected.whenSuccess { channel in
            channel.writeAndFlush(
                ByteBuffer(string: "GET /metrics HTTP/1.0\r\nHost: \(place.host)\r\nConnection: close\r\n\r\n"),
                promise: nil)
        }
        let deadline = loop.scheduleTask(in: patience) { done.succeed(nil) }
        let page = try? await done.futureResult.get()
        deadline.cancel()
        connected.whenSuccess { $0.close(promise: nil) }
        return page ?? nil
    }

    /// Collects an answer until the connection ends.
    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let done: EventLoopPromise<String?>
        private var page = ByteBuffer()

        init(done: EventLoopPromise<String?>) { self.done = done }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var part = unwrapInboundIn(data)
            page.writeBuffer(&part)
            if page.readableBytes > MetricsReader.bound { context.close(promise: nil) }
        }

        func channelInactive(context: ChannelHandlerContext) { done.succeed(String(buffer: page)) }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
