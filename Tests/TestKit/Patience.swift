internal import Glibc

/// How many times as long as usual what a test waits for may take: `HELIOGRAPH_TEST_PATIENCE`, which `Scripts/sanitize` sets for
/// programs that are several times slower; else once. It is for the deadlines that end a test that hangs, never for a time that
/// a test is about.
package let patience: Int = {
    guard let text = getenv("HELIOGRAPH_TEST_PATIENCE") else { return 1 }
    guard let times = Int(String(cString: text)), times > 0 else {
        // A run with other times than it was asked for would say nothing.
        fatalError("HELIOGRAPH_TEST_PATIENCE is no number above 0")
    }
    return times
}()
