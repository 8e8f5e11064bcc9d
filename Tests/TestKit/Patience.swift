internal import Glibc

/// The factor by which tests' deadlines are longer than usual: `HELIOGRAPH_TEST_PATIENCE`, which `Scripts/sanitize`
/// sets because sanitized programs are several times slower; default 1. It applies to deadlines that end a hanging
/// test, never to times that a test is about.
package let patience: Int = {
    guard let text = getenv("HELIOGRAPH_TEST_PATIENCE") else { return 1 }
    guard let times = Int(String(cString: text)), times > 0 else {
        // A run with other deadlines than the caller asked for would prove nothing.
        fatalError("HELIOGRAPH_TEST_PATIENCE is no number above 0")
    }
    return times
}()
