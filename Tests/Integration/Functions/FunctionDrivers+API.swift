import ClusterState
import RedisClient
import Testing

/// Calls the functions of the server API.
extension FunctionDrivers {
    /// An answer of a mebibyte, longer than any of the API.
    static func api(_ times: FunctionTimes) async throws {
        let tag = KeySpace.apiTag(key: String(repeating: "0", count: 16), idempotencyKey: long("request"))
        let digest = RedisArgument.string(String(repeating: "d", count: 64))
        let body = RedisArgument.string(String(repeating: "b", count: 1_048_576))
        try await times.expectShort("api_begin") { _ = try await times.call("api_begin", tag, digest, 30_000, 60_000) }
        try await times.expectShort("api_answered") {
            _ = try await times.call("api_answered", tag, digest, 200, body, 60_000, 0)
        }
        // Reads the whole answer.
        try await times.expectShort("api_begin") { _ = try await times.call("api_begin", tag, digest, 30_000, 60_000) }
        try await times.expectShort("api_forget") { _ = try await times.call("api_forget", tag, digest) }
    }
}
