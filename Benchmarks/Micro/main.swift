import Glibc

// micro                      measures everything, prints one line of JSON each
// micro NAME COUNT           does one thing COUNT times and nothing else, for counting instructions from outside
// micro --list               names

let arguments = CommandLine.arguments.dropFirst()
let benchmarks = Benchmark.all()

switch (arguments.first, arguments.dropFirst().first.flatMap { Int($0) }) {
case ("--list", _):
    for benchmark in benchmarks { print(benchmark.name) }
case (let name?, let count?):
    // Only Benchmarks/run calls it this way, with a name of --list.
    guard let benchmark = benchmarks.first(where: { $0.name == name }) else { fatalError("no benchmark \(name)") }
    benchmark.run(count)
case (nil, _):
    for benchmark in benchmarks { print(benchmark.measured()) }
default:
    print("usage: micro [--list | NAME COUNT]")
    exit(2)
}
