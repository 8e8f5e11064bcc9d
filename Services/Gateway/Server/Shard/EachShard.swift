/// Does something for all shards concurrently, in one child task each, and returns when all are done.
///
/// Each shard has its own connections to Redis: when one of them hangs or fails, the other shards must neither wait nor
/// be affected. So `act` handles its own errors and throws none.
func eachShard<Shard: Sendable>(of shards: [Shard], _ act: @escaping @Sendable (Shard) async -> Void) async {
    await withDiscardingTaskGroup { tasks in
        for shard in shards { tasks.addTask { await act(shard) } }
    }
}

/// Asks all shards at once, in one unstructured task each, so that a shard that hangs keeps nobody
/// waiting for longer than `bound`.
/// - Returns: the answers in the order of the shards; nil for a shard that has not answered in time.
func answers<Shard: Sendable, Answer: Sendable>(
    of shards: [Shard], within bound: Duration, _ ask: @escaping @Sendable (Shard) async -> Answer
) async -> [Answer?] {
    let (given, giving) = AsyncStream.makeStream(of: (index: Int, answer: Answer).self)
    for (index, shard) in shards.enumerated() {
        Task { giving.yield((index, await ask(shard))) }
    }
    let timer = Task {
        try? await Task.sleep(for: bound)
        giving.finish()
    }
    defer { timer.cancel() }
    var answers = [Answer?](repeating: nil, count: shards.count)
    var missing = shards.count
    for await (index, answer) in given {
        answers[index] = answer
        missing -= 1
        if missing == 0 { break }
    }
    return answers
}
