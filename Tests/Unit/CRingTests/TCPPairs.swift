import Dispatch
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// TCP connections over the loopback interface: what is sent at the near end is read at the far one, unless another
/// thread has reset that.
final class TCPPairs: Sendable {
    let near: [CInt]
    /// -1 after a reset.
    private let far: Mutex<[CInt]>
    /// Signalled once for each far end that may be reset.
    private let allowed = DispatchSemaphore(value: 0)

    init(_ count: Int) {
        let listener = TCPPairs.socket()
        var (near, far): ([CInt], [CInt]) = ([], [])
        TCPPairs.withLoopbackAddress { address, length in
            var size = length
            precondition(bind(listener, address, size) == 0 && listen(listener, 16) == 0, "no port to listen on")
            precondition(getsockname(listener, address, &size) == 0, "the port has no number")
            for _ in 0..<count {
                let client = TCPPairs.socket()
                precondition(connect(client, address, size) == 0, "no connection")
                far.append(client)
                near.append(accept(listener, nil, nil))
            }
        }
        close(listener)
        var (isOn, patience) = (CInt(1), timeval(tv_sec: 20, tv_usec: 0))
        // A read that gets nothing fails after this time instead of blocking for ever.
        for socket in far {
            setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
        // Else a small message would wait until the one before is acknowledged.
        for socket in near {
            setsockopt(socket, CInt(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<CInt>.size))
        }
        self.near = near
        self.far = Mutex(far)
    }

    deinit {
        for socket in near { close(socket) }
        far.withLock { for socket in $0 where socket >= 0 { close(socket) } }
    }

    private static func socket() -> CInt {
        let made = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        precondition(made >= 0, "no more sockets")
        return made
    }

    private static func withLoopbackAddress(_ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Void) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Starts a thread that resets these far ends, in this order, one for each call of ``allowReset()``.
    /// - Returns: what is done when all are reset.
    func startResets(_ indices: [Int]) -> DispatchGroup {
        let group = DispatchGroup()
        DispatchQueue(label: "resets").async(group: group) { [self] in
            for index in indices {
                allowed.wait()
                reset(index)
            }
        }
        return group
    }

    func allowReset() { allowed.signal() }

    private func reset(_ index: Int) {
        let socket = far.withLock { far in
            defer { far[index] = -1 }
            return far[index]
        }
        var lingering = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
        close(socket)
    }

    /// Waits until the kernel has told the near end of the reset.
    /// - Returns: whether it has.
    func isTold(_ index: Int) -> Bool {
        var found = pollfd(fd: near[index], events: 0, revents: 0)
        return poll(&found, 1, 20_000) == 1 && CInt(found.revents) & CInt(POLLHUP) != 0
    }

    /// Reads so many bytes; fewer when they do not come.
    func read(_ index: Int, _ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let size = recv(far.withLock { $0[index] }, &bytes, count, CInt(MSG_WAITALL))
        return Array(bytes[..<max(0, size)])
    }
}
