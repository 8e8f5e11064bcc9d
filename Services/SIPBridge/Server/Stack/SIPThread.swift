/// The owner of everything that libre makes: sockets, timers, transactions and dialogs, which know no locks. Its executor is
/// libre's event loop, of which a process has one.
///
/// libre calls back on this thread. A C callback that is written in an isolated function is isolated too: the compiler adds a
/// check that ends the process should the callback come on another thread.
@globalActor
actor SIPThread {
    static let shared = SIPThread()

    private static let started = Result { () throws(SIPError) in try SIPLoop.start() }

    private nonisolated let loop: SIPLoop

    /// Starts the thread, unless it runs; to be called before anything else of this actor.
    /// - Throws: why the system gave no thread or no descriptors.
    static func start() throws(SIPError) { _ = try started.get() }

    private init() {
        // `start()` has told the caller of a failure: whoever uses the actor all the same has a mistake in the start-up.
        guard case .success(let loop) = Self.started else { fatalError("no SIP thread: \(Self.started)") }
        self.loop = loop
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
}
