/// The owner of all objects of libre: sockets, timers, transactions and dialogs, which have no locks. Its executor is
/// libre's event loop, of which a process has one.
///
/// libre calls back on this thread. A C callback that is written in an isolated function is isolated too: the compiler
/// adds a check that ends the process if the callback arrives on another thread.
@globalActor
actor SIPThread {
    static let shared = SIPThread()

    private static let started = Result { () throws(SIPError) in try SIPLoop.start() }

    private nonisolated let loop: SIPLoop

    /// Starts the thread, unless it runs; must be called before anything else of this actor.
    /// - Throws: the system's error when there is no thread or descriptor.
    static func start() throws(SIPError) { _ = try started.get() }

    private init() {
        // `start()` has reported the failure to its caller; using the actor nevertheless is a mistake in the start-up.
        guard case .success(let loop) = Self.started else {
            fatalError("could not start the SIP thread: \(Self.started)")
        }
        self.loop = loop
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
}
