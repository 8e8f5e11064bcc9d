import Allocations
import Glibc

/// A small operation of the hot path, repeated many times.
struct Benchmark {
    let name: String
    let run: (_ count: Int) -> Void

    init(_ name: String, _ once: @escaping () -> Void) {
        self.name = name
        run = { count in for _ in 0..<count { once() } }
    }

    /// The least CPU time and the allocations of one repetition, as a line of JSON.
    func measured() -> String {
        run(1000)
        var count = 1000
        while Self.cpuNanoseconds({ run(count) }) < 20_000_000 { count *= 2 }
        let best = (0..<7).map { _ in Self.cpuNanoseconds { run(count) } }.min() ?? 0
        let before = allocations_so_far()
        run(count)
        let allocated = Double(allocations_so_far() - before) / Double(count)
        let tenths = (allocated * 10).rounded() / 10
        return #"{"name":"\#(name)","ns":\#(Double(best / Int64(count / 10)) / 10),"allocations":\#(tenths)}"#
    }

    private static func cpuNanoseconds(_ body: () -> Void) -> Int64 {
        func now() -> Int64 {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        }
        let start = now()
        body()
        return now() - start
    }
}

/// Prevents the compiler from removing the computation of a value.
@inline(never)
func use<Value>(_ value: borrowing Value) {}
