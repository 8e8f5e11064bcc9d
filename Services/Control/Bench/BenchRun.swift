internal import Glibc
internal import ServiceKit
internal import SignalingClient
internal import SignalingProtocol

/// The load of a run of `bench`.
struct BenchLoad: Sendable {
    let users: Int
    /// Messages per second, of all users together.
    let rate: Int
    /// For how long messages are sent.
    let seconds: Int
    let loginsPerSecond: Int
    /// Bytes of a message.
    let size: Int
}

/// A run of `bench`: logs users in, lets each send to the next one, logs them out, and removes what it has made.
struct BenchRun: Sendable {
    /// How long a message waits for its receiver; so what a run leaves in mailboxes ends by itself soon after it.
    private static let timeToLive = ClientDuration.seconds(20)
    /// Logouts per second at least.
    private static let logoutsPerSecond = 1000

    private let load: BenchLoad
    private let gateways: [GatewayEndpoint]
    private let bench: Bench

    init(load: BenchLoad, gateways: [GatewayEndpoint]) {
        self.load = load
        self.gateways = gateways
        bench = Bench(load, isTerminal: isatty(STDERR_FILENO) == 1)
    }

    /// Runs to the end of the load, or until SIGINT or SIGTERM.
    /// - Throws: when the app could not be made or removed.
    func report() async throws -> BenchReport {
        let result = await withTaskGroup(of: Result<BenchReport, any Error>?.self) { tasks in
            tasks.addTask {
                await StopSignal.wait()
                await bench.stop()
                return nil
            }
            tasks.addTask { await outcome() }
            var found: Result<BenchReport, any Error>?
            for await result in tasks where result != nil {
                found = result
                tasks.cancelAll()
            }
            return found
        }
        guard let result else { throw Failure(message: "the run was interrupted", code: 1) }
        return try result.get()
    }

    private func outcome() async -> Result<BenchReport, any Error> {
        do {
            let app = try await BenchApp.make()
            await bench.began(.logins)
            await untilStopped { await logIn(to: app) }
            await sendAndLogOut()
            await bench.began(.cleaning)
            let left = try await app.remove()
            await bench.finish()
            return .success(await bench.report(sessionsLeft: left))
        } catch {
            await bench.finish()
            return .failure(error)
        }
    }

    /// Does something until it is done or the run is stopped; then what is still under way is given up.
    private func untilStopped(_ act: @escaping @Sendable () async -> Void) async {
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await act() }
            tasks.addTask { await bench.untilStopped() }
            await tasks.next()
            tasks.cancelAll()
        }
    }

    // MARK: - Logins

    /// Logs the users in at a steady pace.
    private func logIn(to app: BenchApp) async {
        let access = ClientAccess(app: app.id, certificate: nil, gateways: gateways)
        await withTaskGroup(of: Void.self) { tasks in
            let begin = ContinuousClock.now
            for index in 0..<load.users {
                let due = begin + .seconds(Double(index) / Double(load.loginsPerSecond))
                try? await Task.sleep(until: due, clock: .continuous)
                guard !Task.isCancelled else { break }
                tasks.addTask { await logIn(index, access) }
            }
        }
    }

    private func logIn(_ index: Int, _ access: ClientAccess) async {
        guard let account = try? Account("user-\(index)") else { return }
        let asked = ContinuousClock.now
        do throws(SignalingError) {
            let client = try await SignalingClient.connect(access.configuration(account))
            await bench.loggedIn(client, as: account.rawValue, after: .now - asked)
        } catch {
            await bench.couldNotLogIn(error)
        }
    }

    // MARK: - Messages

    /// Sends messages at the rate while users receive them, then logs all users out and waits until they are.
    private func sendAndLogOut() async {
        let users = await bench.users
        await withTaskGroup(of: Void.self) { tasks in
            for user in users { tasks.addTask { await receive(user) } }
            let isStopped = await bench.isStopped
            if users.count > 1, !isStopped {
                await bench.began(.messages)
                await untilStopped { await sendAll(users) }
                await bench.settle()
            }
            await bench.began(.logouts)
            await logOut(users)
        }
    }

    private func receive(_ user: BenchUser) async {
        for await event in user.client.events {
            switch event {
            case .message(let message): await bench.received(message.text)
            case .loggedOut(let error): await bench.ended(error)
            default: break
            }
        }
    }

    private func sendAll(_ users: [BenchUser]) async {
        let begin = ContinuousClock.now
        let beginStamp = BenchStamp.now
        let total = load.rate * load.seconds
        // Several at a time where the rate is high: the clock need not be asked for each.
        let burst = max(1, load.rate / 200)
        await withTaskGroup(of: Void.self) { tasks in
            var number = 0
            var running = 0
            while number < total {
                let offset = Double(number) / Double(load.rate)
                try? await Task.sleep(until: begin + .seconds(offset), clock: .continuous)
                guard !Task.isCancelled else { break }
                let due = BenchMoment(clock: begin + .seconds(offset), stamp: beginStamp + UInt64(offset * 1e9))
                for _ in 0..<min(burst, total - number) {
                    // More than so many without an answer would only fill this machine's memory.
                    if running >= Bench.mostUnanswered {
                        await tasks.next()
                        running -= 1
                    }
                    let (from, to) = (users[number % users.count], users[(number + 1) % users.count])
                    number += 1
                    running += 1
                    tasks.addTask { await send(from, to, due) }
                }
            }
        }
    }

    /// Times count from the moment at which the message was due, so that a cluster that holds the sender up looks no
    /// faster.
    private func send(_ from: BenchUser, _ to: BenchUser, _ due: BenchMoment) async {
        do throws(SignalingError) {
            try await from.client.sendMessage(
                BenchStamp.text(due: due.stamp, bytes: load.size), to: to.account, timeToLive: Self.timeToLive)
            await bench.sent(after: .now - due.clock)
        } catch {
            await bench.couldNotSend(error)
        }
    }

    // MARK: - The end

    /// Logs the users out at the pace of the logins, but not slower than a thousand per second.
    private func logOut(_ users: [BenchUser]) async {
        let begin = ContinuousClock.now
        let pace = Double(max(Self.logoutsPerSecond, load.loginsPerSecond))
        for (index, user) in users.enumerated() {
            if index % 10 == 0 {
                try? await Task.sleep(until: begin + .seconds(Double(index) / pace), clock: .continuous)
            }
            user.client.close()
        }
    }
}

/// A moment by two clocks: the one of waits, and the one of messages' stamps.
private struct BenchMoment: Sendable {
    let clock: ContinuousClock.Instant
    let stamp: UInt64
}
