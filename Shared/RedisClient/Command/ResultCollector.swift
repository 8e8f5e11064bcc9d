/// Collects the results of commands that were sent together. Use it on one event loop only.
final class ResultCollector {
    private var results: [Result<RedisValue, RedisError>]
    private var missing: Int
    private let completion: ([Result<RedisValue, RedisError>]) -> Void

    init(count: Int, completion: @escaping ([Result<RedisValue, RedisError>]) -> Void) {
        results = Array(repeating: .failure(.closed), count: count)
        missing = count
        self.completion = completion
    }

    /// Sets one result; each index once. The order is free, because refusals (`FULL`) arrive before replies.
    func set(_ index: Int, _ result: Result<RedisValue, RedisError>) {
        results[index] = result
        missing -= 1
        if missing == 0 { completion(results) }
    }
}
