internal import ArgumentParser
internal import BusProtocol
internal import PostgresStore
internal import ServiceKit
internal import SignalingClient
internal import SignalingProtocol
internal import SignalingWire

/// `heliographctl tail`.
struct TailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail", abstract: "Shows an app's events as they happen: logins, logouts, joins and leaves.",
        discussion: """
            Logs in as two clients, which join the special channels; the app must not have closed these. Their own logins are not \
            shown. With --json each event is an object on a line of its own, with milliseconds of this machine's clock. Ends at \
            SIGINT, or after --count or --seconds.
            """)

    enum Kind: String, ExpressibleByArgument, CaseIterable { case online, offline, join, leave }

    @Option(help: "The app.")
    var app: AppID

    @Option(parsing: .upToNextOption, help: "Only these events.")
    var events: [Kind] = Kind.allCases

    @Option(help: "Only events of this account.")
    var account: Account?

    @Option(help: "Only joins and leaves of this channel.")
    var channel: ChannelName?

    @Option(help: "End after so many events: 1 to 1000000000.")
    var count: Int?

    @Option(help: "End after so many seconds: 1 to 31536000 (a year).")
    var seconds: Int?

    @OptionGroup var gateways: GatewayOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...1_000_000_000).contains(count ?? 1) else { throw ValidationError("--count must be 1...1000000000") }
        guard (1...31_536_000).contains(seconds ?? 1) else { throw ValidationError("--seconds must be 1...31536000") }
        guard channel == nil || !wanted.isEmpty else {
            throw ValidationError("--channel is for the events join and leave")
        }
    }

    /// The events that are to be shown.
    private var wanted: Set<Kind> {
        channel == nil ? Set(events) : Set(events).intersection([.join, .leave])
    }

    /// The special channels that tell of them.
    private var specials: [SpecialChannel] {
        var specials: [SpecialChannel] = []
        if !wanted.isDisjoint(with: [.online, .offline]) { specials.append(.userOnline) }
        if !wanted.isDisjoint(with: [.join, .leave]) { specials.append(.channelEvent) }
        return specials
    }

    func run() async throws {
        try await Failure.reported {
            OutputLine.survivesClosedPipes()
            let access = try await access()
            let tail = Tail(count: count)
            let specials = specials
            let run = SecureRandom.hex(bytes: 6)
            let accounts = try specials.indices.map { try Account("heliographctl-\(run)-\($0)") }
            await withTaskGroup(of: Bool.self) { tasks in
                for (special, own) in zip(specials, accounts) {
                    tasks.addTask {
                        await follow(special, access.configuration(own), tail, ignoring: Set(accounts.map(\.rawValue)))
                        return true
                    }
                }
                tasks.addTask {
                    await StopSignal.wait()
                    await tail.stop()
                    return false
                }
                if let seconds {
                    tasks.addTask {
                        try? await Task.sleep(for: .seconds(seconds))
                        await tail.stop()
                        return false
                    }
                }
                var left = specials.count
                for await isClient in tasks {
                    if isClient { left -= 1 }
                    // Whoever has not logged in yet need not; the others log out first.
                    let nobodyIsIn = await tail.isEmpty
                    if left == 0 || !isClient && nobodyIsIn { tasks.cancelAll() }
                }
            }
            if let failure = await tail.failure { throw failure }
        }
    }

    private func access() async throws -> ClientAccess {
        var certificate: String?
        try await Database.with { pool in
            guard let record = try await AppStore(pool: pool).find(app) else { throw AppCommand.unknown(app) }
            guard record.limits.specialChannelsOpen else {
                throw Failure.refused(
                    "\(app) has closed its special channels: heliographctl app limit \(app) --special-channels open")
            }
            certificate = record.tokenRequired ? record.certificate : nil
        }
        return ClientAccess(app: app, certificate: certificate, gateways: try await gateways.endpoints())
    }

    /// Follows a special channel until the tail is stopped.
    private func follow(
        _ special: SpecialChannel, _ configuration: ClientConfiguration, _ tail: Tail, ignoring own: Set<String>
    ) async {
        do throws(SignalingError) {
            let client = try await SignalingClient.connect(configuration)
            await tail.add(client)
            try await client.join(special.rawValue)
            await tail.began()
            for await event in client.events {
                switch event {
                case .channelMessage(_, let account, _, let text) where !own.contains(account):
                    if let event = TailEvent(text), isWanted(event) { await tail.show(event, json: output.json) }
                case .reconnected(complete: false), .channelLeft:
                    OutputLine.note("events may be missing here")
                case .loggedOut(let error): await tail.ended(error)
                default: break
                }
            }
        } catch {
            await tail.ended(error)
        }
    }

    private func isWanted(_ event: TailEvent) -> Bool {
        guard let kind = Kind(rawValue: event.kind), wanted.contains(kind) else { return false }
        if let account, event.account != account.rawValue { return false }
        if let channel, event.channel != channel.rawValue { return false }
        return true
    }
}

/// What a special channel says.
private struct TailEvent: Printable {
    let kind: String
    let account: String
    let uid: Int64
    let channel: String?
    let reason: Int64
    let shownAt: Int64

    init?(_ text: String) {
        guard let value = try? JSONValue.parse(text.utf8), let kind = value["event"]?.string,
            let account = value["account"]?.string
        else { return nil }
        self.kind = kind
        self.account = account
        uid = value["uid"]?.integer ?? 0
        channel = value["channel"]?.string
        reason = value["reason"]?.integer ?? 0
        shownAt = WallClock.milliseconds
    }

    var members: [JSONMember] {
        var members = [
            JSONMember("event", kind), JSONMember("account", account),
            JSONMember("uid", uid), JSONMember("reason", reason), JSONMember("time", shownAt),
        ]
        if let channel { members.append(JSONMember("channel", channel)) }
        return members
    }

    var lines: [String] {
        let place = channel.map { "  \($0.visible)" } ?? ""
        let why = reason == 0 ? "" : "  code \(reason)"
        let name = kind.visible
        let padding = String(repeating: " ", count: max(0, 7 - name.count))
        return ["\(Output.time(milliseconds: shownAt))  \(name)\(padding)  \(account.visible)\(place)\(why)"]
    }
}

/// The clients of a tail and how many events are left to show.
private actor Tail {
    private var clients: [SignalingClient] = []
    private var left: Int?
    private var isStopped = false
    private(set) var failure: Failure?

    init(count: Int?) { left = count }

    /// Whether no client has logged in.
    var isEmpty: Bool { clients.isEmpty }

    /// Takes a client that has logged in; closes it if the tail has been stopped.
    func add(_ client: SignalingClient) {
        if isStopped { return client.close() }
        clients.append(client)
    }

    /// A client follows its channel.
    func began() { OutputLine.note("following") }

    func show(_ event: TailEvent, json: Bool) {
        guard !isStopped else { return }
        let lines = json ? [event.json.compactText] : event.lines
        guard lines.allSatisfy(OutputLine.write) else { return stop() }
        guard let left else { return }
        self.left = left - 1
        if left <= 1 { stop() }
    }

    /// Logs all clients out.
    func stop() {
        isStopped = true
        for client in clients { client.close() }
    }

    /// A client has ended, or could not begin.
    func ended(_ error: SignalingError) {
        guard !isStopped else { return }
        failure = Failure(message: "the events can be followed no longer: \(error)", code: 69)
        stop()
    }
}
