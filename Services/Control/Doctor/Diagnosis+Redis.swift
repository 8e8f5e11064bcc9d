internal import ClusterBus
internal import ClusterState
internal import ControlInspection
internal import RedisClient
internal import ServiceKit
internal import SignalingProtocol

extension Diagnosis {
    /// Looks at the servers of Redis and at what the processes have written there.
    /// - Throws: `RedisError` when the URL cannot be used, or Redis is not run as it says.
    mutating func lookAtRedis() async throws {
        do {
            let inspector = try ControlRedis.inspector()
            let inspection = try await inspector.inspect(for: .zero)
            add(facts: inspection.facts)
            add(inspection.findings + inspection.care)
            for server in inspection.servers {
                if let lead = server.clockLead { judge(clockOf: "Redis at \(server.address)", lead) }
            }
            let channels = try await inspector.channels(on: inspection.masters.map(\.address))
            add(channels.map { .advice($0.line(in: inspector.flavour)) })
            try await lookAtCertificates(of: inspection)
            try await lookAtCluster()
        } catch let error as RedisError {
            switch error.code {
            case .url, .flavour: throw error
            default: wrong("Redis: \(error.message): start it, or correct HELIOGRAPH_REDIS_URL and its password")
            }
        } catch let error as SignalingError {
            wrong(
                "Redis: what the processes have written cannot be read (\(error)): repeat the command; see Redis' log")
        }
    }

    private mutating func lookAtCluster() async throws {
        let cluster = try await ControlRedis.withConnection(libraries: []) { connection in
            let leases = GatewayLeases(connection: connection)
            let gateways = try await leases.list()
            let known = gateways.isEmpty ? [:] : try await leases.leases(of: gateways)
            let instances = try await RunningInstances.list(connection)
            let problem = try await RunningInstances.layoutProblem(connection)
            return Cluster(instances: instances, leases: known, layoutProblem: problem)
        }
        if let problem = cluster.layoutProblem { wrong(problem) }
        lookAtProcesses(cluster.instances)
        lookAtOpenHooks(cluster.openHooks)
        await lookAtCertificates(of: Array(cluster.leases.values))
    }

    /// What the processes have written into Redis about themselves.
    private struct Cluster: Sendable {
        let instances: [RunningInstance]
        let leases: [GatewayID: GatewayLease]
        let layoutProblem: String?

        /// The apps whose servers gateways leave alone, with the names of those gateways.
        var openHooks: [AppID: [String]] {
            let apps = GatewayID.openHooks(by: leases)
            var gateways: [AppID: [String]] = [:]
            for instance in instances {
                for app in instance.record.gateway.flatMap({ apps[$0] }) ?? [] {
                    gateways[app, default: []].append(instance.id)
                }
            }
            return gateways
        }
    }

    // MARK: - Processes

    /// The kinds of processes that every cluster needs, with what does not work without them. Whether webhooks are
    /// needed, PostgreSQL says: see ``lookAtWebhooks(_:)``.
    private static let needed = [
        ("gateway", "nobody can connect"), ("presence", "nobody can log in"),
        ("channel-state", "nobody can join channels"), ("invitation", "nobody can call"),
    ]

    private mutating func lookAtProcesses(_ instances: [RunningInstance]) {
        let counts = Dictionary(instances.map { ($0.record.kind, 1) }, uniquingKeysWith: +)
        runningKinds = Set(counts.keys)
        gatewaysServeAPI = instances.compactMap(\.record.servesAPI)
        add(
            facts: counts.isEmpty
                ? []
                : [
                    "processes: "
                        + counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
                ])
        for (kind, effect) in Self.needed where counts[kind] == nil {
            wrong("no \(kind) process runs: \(effect); start one, or see why it ended (its log)")
        }
        let levels = instances.map(\.record.level)
        if let least = levels.min(), let highest = levels.max(), least < highest {
            let old = instances.filter { $0.record.level == least }.map(\.id).joined(separator: ", ")
            advise("processes of the levels \(least) and \(highest) run: end the upgrade by replacing \(old)")
        }
        if let highest = levels.max(), highest != ClusterLevel.current {
            advise(
                "this program has level \(ClusterLevel.current), a process has \(highest): use the heliographctl of "
                    + "its release"
            )
        }
        for instance in instances { lookAtFiles(of: instance) }
    }

    /// How many files and sockets a process needs at least, and should have.
    private static func files(for kind: String) -> (least: Int64, enough: Int64) {
        kind == "gateway" ? (4096, 65_536) : (512, 1024)
    }

    private mutating func lookAtFiles(of instance: RunningInstance) {
        guard let files = instance.record.files else { return }
        let (least, enough) = Self.files(for: instance.record.kind)
        guard files < enough else { return }
        let text =
            "\(instance.record.kind) \(instance.id) on \(instance.record.host) may have \(files) open files"
            + (instance.record.kind == "gateway" ? ", and each client needs one" : "")
            + ": raise the limit to \(enough) or more (systemd LimitNOFILE, HELIOGRAPH_OPEN_FILES for compose, ulimit "
            + "-Hn) and restart it"
        if files < least { wrong(text) } else { advise(text) }
    }

    // MARK: - Certificates

    private mutating func lookAtCertificates(of leases: [GatewayLease]) async {
        // A process has a lease for each of its event loops.
        let places = Set(leases.map { NodeAddress(host: $0.host, port: $0.port + 1) })
        for place in places.sorted(by: { $0.description < $1.description }) {
            judge(await CertificateProbe.ask(place), of: "the gateway at \(place)")
        }
    }

    private mutating func lookAtCertificates(of inspection: RedisInspection) async throws(RedisError) {
        guard try ControlRedis.usesTLS() else { return }
        for server in inspection.servers {
            judge(await CertificateProbe.ask(server.address), of: "Redis at \(server.address)")
        }
    }

    /// How many days before its end a certificate is to be renewed: soon, and at once.
    private static let (noticeDays, lastDays) = (30, 7)

    private mutating func judge(_ answer: CertificateProbe.Answer, of owner: String) {
        guard case .end(let end) = answer else { return }
        let left = end - WallClock.seconds
        let date = Output.time(milliseconds: end * 1000)
        if left <= 0 {
            return wrong("the certificate of \(owner) ended at \(date): clients refuse it; renew it, then send SIGHUP")
        }
        let days = left / 86_400
        let text =
            "the certificate of \(owner) ends in \(days) days, at \(date): renew it, then send the process SIGHUP"
        if days <= Self.lastDays { return wrong(text) }
        if days <= Self.noticeDays { return advise(text) }
        add(facts: ["the certificate of \(owner) is valid until \(date)"])
    }
}
