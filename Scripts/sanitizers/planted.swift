// What a sanitizer has to find, and right code that it must not take for a defect: `Scripts/sanitize` gives it both
// before the tests. `Scripts/sanitizers/swift.c` says what is hard about the right code.

import Glibc
import Synchronization

/// `@unchecked Sendable`: that `count` is not safe is the race that is planted.
final class Shared: @unchecked Sendable {
    var count = 0
    let numbers = Mutex([Int]())
}

/// `@unchecked Sendable`: handed over whole, from the task that makes it to the one that
/// waits; no two ever use it at once.
final class Box: @unchecked Sendable {
    var number: Int
    init(_ number: Int) { self.number = number }
}

let shared = Shared()

/// Does something 20,000 times in each of four tasks at once.
func inTasks(_ act: @escaping @Sendable (Int) async -> Void) async {
    await withTaskGroup { group in
        for _ in 0..<4 { group.addTask { for number in 0..<20_000 { await act(number) } } }
    }
}

switch CommandLine.arguments.dropFirst().first {
case "race":
    await inTasks { _ in
        // A mutex that guards something else orders nothing.
        shared.numbers.withLock { if $0.isEmpty { $0.append(1) } }
        shared.count += 1
        await Task.yield()
    }
    print(shared.count)
case "overflow":
    let numbers = UnsafeMutablePointer<Int>.allocate(capacity: 4)
    numbers.initialize(repeating: 1, count: 4)
    print(numbers[CommandLine.arguments.count + 2])
    numbers.deallocate()
case "leak":
    for _ in 0..<10 { strdup("nobody frees this") }
case "right":
    await inTasks { number in
        shared.numbers.withLock { numbers in
            if numbers.count > 100 { numbers.removeAll() }
            numbers.append(number)
        }
    }
    await inTasks { number in
        let box = await withCheckedContinuation { continuation in
            Task.detached { continuation.resume(returning: Box(number)) }
            // Now and then the answer comes before the wait for it.
            if number.isMultiple(of: 16) { usleep(20) }
        }
        box.number += 1
    }
    print("done")
// A program of the script alone: a wrong word is an error in the script.
default: fatalError("race, overflow, leak or right?")
}
