import Testing

@testable import RedisClient

/// Random events of many kinds, against a simulated cluster. The seed is the test's argument.
@Suite struct ClusterModelTests {
    @Test(arguments: 1...40)
    func everyCommandOnceAndInOrder(_ seed: UInt64) {
        let model = check(seed)
        // Neither an idle nor a hopeless cluster.
        #expect(model.cluster.refusals > 5)
        #expect(model.outcomes.values.count { $0 == .done } * 3 > model.outcomes.count)
    }

    /// A new seed at each run.
    @Test func anotherSeed() { _ = check(UInt64.random(in: 0...UInt64.max)) }

    private func check(_ seed: UInt64) -> ClusterModel {
        let model = ClusterModel(seed: seed)
        model.start()
        for _ in 0..<1500 { model.step() }
        model.settle()
        #expect(model.faults.isEmpty, "seed \(seed)")
        #expect(model.outcomes.count == model.submitted.count, "seed \(seed): commands are left")
        #expect(model.machine.pending == 0, "seed \(seed)")
        #expect(model.machine.holds.isEmpty, "seed \(seed)")
        #expect(model.machine.inFlight.allSatisfy { $0 == 0 }, "seed \(seed)")
        for slot in SimulatedCluster.slots { checkOrder(of: model.cluster.log[slot] ?? [], seed) }
        checkOutcomes(model, seed)
        return model
    }

    /// Function calls are carried out in their order, and so are commands with the same key; each once.
    private func checkOrder(of log: [SimulatedCluster.Request], _ seed: UInt64) {
        let fenced = log.filter(\.command.traits.isFenced).map(\.command.number)
        #expect(fenced == Set(fenced).sorted(), "seed \(seed)")
        for key in SimulatedCluster.keys {
            let plain = log.filter { !$0.command.traits.isFenced && $0.key == key }.map(\.command.number)
            #expect(plain == Set(plain).sorted(), "seed \(seed), key \(key)")
        }
    }

    private func checkOutcomes(_ model: ClusterModel, _ seed: UInt64) {
        let carriedOut = Set(model.cluster.log.values.joined().map(\.command.number))
        for (number, outcome) in model.outcomes {
            switch outcome {
            case .done: #expect(carriedOut.contains(number), "seed \(seed): \(number) was not carried out")
            case .failed:
                // Nothing was done, unless a connection was lost with it.
                #expect(
                    !carriedOut.contains(number) || model.lost.contains(number),
                    "seed \(seed): \(number) failed, but was carried out")
            }
        }
    }
}
