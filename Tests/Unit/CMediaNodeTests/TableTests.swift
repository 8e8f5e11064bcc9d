import CMediaNode
import Testing

@Suite struct TableTests {
    private final class Table {
        var table = cm_table()

        init(limit: Int) { #expect(cm_table_make(&table, limit, [1, 2])) }

        deinit { cm_table_free(&table) }

        /// Values are numbers, as pointers that are never followed.
        func put(_ key: cm_table_key, _ value: Int) -> Bool {
            var key = key
            return cm_table_put(&table, &key, UnsafeMutableRawPointer(bitPattern: value))
        }

        func find(_ key: cm_table_key) -> Int? {
            var key = key
            return cm_table_find(&table, &key).map { Int(bitPattern: $0) }
        }

        func remove(_ key: cm_table_key) -> Int? {
            var key = key
            return cm_table_remove(&table, &key).map { Int(bitPattern: $0) }
        }
    }

    @Test func aTableDoesWhatADictionaryDoes() {
        let table = Table(limit: 50)
        var model: [UInt64: Int] = [:]
        var random = SystemRandomNumberGenerator()
        for step in 1...20_000 {
            let number = UInt64.random(in: 0..<80, using: &random)
            let key = cm_table_number(number)
            if Bool.random(using: &random) {
                let isTaken = model[number] != nil || model.count < 50
                #expect(table.put(key, step) == isTaken, "\(number)")
                if isTaken { model[number] = step }
            } else {
                #expect(table.remove(key) == model.removeValue(forKey: number), "\(number)")
            }
            let other = UInt64.random(in: 0..<80, using: &random)
            #expect(table.find(cm_table_number(other)) == model[other], "\(other)")
        }
        #expect(table.table.count == model.count)
    }

    @Test func keysOfAllKindsDiffer() {
        let table = Table(limit: 10)
        var four = cm_address()
        four.bytes.0 = 127
        four.port = 5
        var six = four
        six.is_ipv6 = true
        var port = four
        port.port = 6
        // What lies behind an IPv4 address does not count.
        var same = four
        same.bytes.10 = 9
        let keys = [
            cm_table_address(&four), cm_table_address(&six), cm_table_address(&port), cm_table_number(127),
            cm_table_name("ab", 2), cm_table_name("ab\0", 3), cm_table_name([127], 1),
        ]
        for (index, key) in keys.enumerated() { #expect(table.put(key, index + 1)) }
        for (index, key) in keys.enumerated() { #expect(table.find(key) == index + 1) }
        #expect(table.find(cm_table_address(&same)) == 1)
        #expect(table.find(cm_table_name("abc", 3)) == nil)
    }
}
