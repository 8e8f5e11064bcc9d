internal import BusProtocol
internal import ChannelStateLogic
internal import ClusterBus
internal import ClusterService
internal import ClusterState
internal import PostgresStore
internal import RedisClient
internal import ServiceMetrics
internal import SignalingProtocol

/// Changes channels' attributes. A change is checked and counted, committed in PostgreSQL, then cached and published in
/// the order of versions.
struct ChannelAttributeHandler: Sendable {
    /// How long after a change a timer checks whether everything committed has been published.
    private static let patience = Duration.seconds(10)

    let functions: ChannelFunctions
    let cache: ChannelAttributeCache
    let changes: Batcher<ChannelAttributeChange, Int64>
    let store: AttributeStore
    let timers: ServiceTimers<ChannelTimer>
    let counters: ChannelCounters

    func change(
        _ command: ChangeChannelAttributes, _ context: CommandContext
    ) async throws(SignalingError) -> Done {
        try await make(command, if: .any, context)
    }

    func change(_ command: ChangeChannelAttribute, _ context: CommandContext) async throws(SignalingError) -> Done {
        let server = Actor(
            user: UserKey(app: command.channel.app, account: command.account), uid: 0, session: .server)
        let change: AttributeChange =
            command.value.map { .update(Attribute(name: command.name, value: $0)) } ?? .delete(command.name)
        return try await make(
            ChangeChannelAttributes(
                actor: server, channel: command.channel.name, change: change, limitPerSecond: command.limitPerSecond),
            if: command.expectation, context)
    }

    func list(_ command: ListChannelAttributes, _ context: CommandContext) async throws(SignalingError) -> AttributeList
    {
        try await answerOfPostgres { () throws(PostgresError) in
            AttributeList(attributes: try await store.channelAttributes(command.channel).attributes)
        }
    }

    private func make(
        _ command: ChangeChannelAttributes, if expectation: AttributeExpectation, _ context: CommandContext
    ) async throws(SignalingError) -> Done {
        try ChannelAttributeRules.check(command.change, of: command.channel)
        let actor = command.actor
        let channel = ChannelKey(app: actor.user.app, name: command.channel)
        try await begin(command, channel, context)
        let version = try await commit(
            ChannelAttributeChange(
                command: context.id, channel: channel, account: actor.user.account, change: command.change),
            if: expectation)
        guard version > 0 else {
            ChannelMetrics.shared.attributesRefused.increment()
            throw .tooManyAttributes(of: "channel")
        }
        ChannelMetrics.shared.attributeChanges.increment()
        try await settle(command.change, version, actor, channel)
        try await moveTimers(command.change, channel)
        return Done()
    }

    /// - Returns: the version after the change; 0 when it would exceed a bound.
    private func commit(
        _ change: ChannelAttributeChange, if expectation: AttributeExpectation
    ) async throws(SignalingError) -> Int64 {
        let version = try await answerOfPostgres { () throws(PostgresError) -> Int64? in
            switch expectation {
            case .any: try await changes.submit(change)
            case .absent: try await store.changeChannelAttribute(change, if: nil)
            case .value(let value): try await store.changeChannelAttribute(change, if: value)
            }
        }
        guard let version else { throw .valueDiffers }
        return version
    }

    private func moveTimers(_ change: AttributeChange, _ channel: ChannelKey) async throws(SignalingError) {
        switch ChannelAttributeRules.timers(affectedBy: change, of: channel) {
        case .none: break
        case .counters: try await counters.settingsChanged(channel)
        case .expiry:
            switch try await functions.expiry(channel) {
            case .wait(let until): try await schedule([(.expiry(channel), until)])
            // An end that is not recorded yet: the timer records it, then sets itself again.
            case .due, .ended:
                let now = try await functions.redis.time(ofSlot: KeySpace.slot(of: .channel(channel)))
                try await schedule([(.expiry(channel), now)])
            case .idle, .none: break
            }
        }
    }

    private func begin(
        _ command: ChangeChannelAttributes, _ channel: ChannelKey, _ context: CommandContext
    ) async throws(SignalingError) {
        let actor = command.actor
        do {
            var admitted = try await functions.begin(command, channel, context)
            if !admitted.attributesAreCached {
                // The rate limit is itself an attribute, and the cache publishes a version only when it has the
                // previous one.
                try await cache.load(channel, account: actor.user.account, uid: actor.uid)
                admitted = try await functions.begin(command, channel, context)
            }
            // If this process dies after the commit and the command is not redelivered, the timer publishes the change.
            var due: [(ChannelTimer, RedisTime)] = [(.attributes(channel), admitted.now + Self.patience)]
            if admitted.members == 0, channel.name.special == nil {
                due.append((.expiry(channel), admitted.now + .seconds(Limits.channelTimeToLive)))
            }
            // The app's server always may, within the bounds.
            let question = actor.session.isServer ? [] : [ChannelFunctions.mayAct(actor, context)]
            _ = try await functions.redis.answers(to: scheduling(due) + question)
        } catch {
            ChannelMetrics.shared.refused(error)
            throw error
        }
    }

    private func settle(
        _ change: AttributeChange, _ version: Int64, _ actor: Actor, _ channel: ChannelKey
    ) async throws(SignalingError) {
        var settlement = AttributeSettlement()
        while true {
            let answer = try await functions.committed(change, version: version, by: actor, channel)
            switch settlement.answered(answer) {
            case .settled: return
            case .compare:
                return try await cache.replaceIfPostgresIsOlder(channel, account: actor.user.account, uid: actor.uid)
            case .retry(let pause):
                // Returns at once when the task is cancelled; the settlement's patience bounds the loop.
                try? await Task.sleep(for: pause)
            case .load:
                try await cache.load(channel, account: actor.user.account, uid: actor.uid)
                return
            }
        }
    }

    private func schedule(_ due: [(timer: ChannelTimer, at: RedisTime)]) async throws(SignalingError) {
        _ = try await functions.redis.answers(to: scheduling(due))
    }

    private func scheduling(_ due: [(timer: ChannelTimer, at: RedisTime)]) -> [RedisCommand] {
        due.map { timers.setting($0.timer, at: $0.at) }
    }
}
