/// Does something for all shards concurrently, in one child task each, and returns when all are done.
///
/// Each shard has its own connections to Redis: when one of them hangs or fails, the other shards must neither wait nor
/// be affected. So `act` handles its own errors and throws none.
func eachShard<Shard: Sendable>(of shards: [Shard], _ act: @escaping @Sendable (Shard) async -> Void) async {
    await withDiscardingTaskGroup { tasks in
        for shard in shards { tasks.addTask { await act(shard) } }
    }
}
