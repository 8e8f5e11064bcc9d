internal import ClusterState
internal import Pacing
package import SignalingProtocol

extension RedisArgument {
    /// A duration in whole milliseconds, as decimal text.
    package static func milliseconds(_ span: Duration) -> RedisArgument { .int64(span.wholeMilliseconds) }

    /// A duration in whole seconds, as decimal text.
    package static func seconds(_ span: Duration) -> RedisArgument { .int64(span.components.seconds) }

    /// A moment of Redis' clock in milliseconds, as decimal text.
    package static func time(_ moment: RedisTime) -> RedisArgument { .int64(moment.milliseconds) }

    /// A deadline in milliseconds, as decimal text; 0 when there is none.
    package static func deadline(_ deadline: RedisTime?) -> RedisArgument { .int64(deadline?.milliseconds ?? 0) }
}
