/// Does something for all shards at the same time, one child task each, and returns when all are done.
///
/// Each shard has connections to Redis of its own: where one of them hangs or fails, the other shards must not wait for it,
/// nor learn of it. So the act handles its own errors and throws none.
func eachShard<Shard: Sendable>(of shards: [Shard], _ act: @escaping @Sendable (Shard) async -> Void) async {
    await withDiscardingTaskGroup { tasks in
        for shard in shards { tasks.addTask { await act(shard) } }
    }
}
