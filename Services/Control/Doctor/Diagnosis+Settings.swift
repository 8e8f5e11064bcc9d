internal import Glibc

extension Diagnosis {
    private static let programs = ["gateway", "presence", "channel-state", "invitation", "sip-bridge", "webhooks"]

    /// Has the programs beside this one check the environment's settings. Where there are none, it is not checked.
    mutating func lookAtSettings() {
        var ignored: Set<String>?
        for program in Self.programs {
            guard let path = Self.path(of: program),
                let ending = try? Program.run(path, ["--check-configuration"], inheritsSettings: true)
            else { continue }
            if ending.status != 0 { wrong("\(ending.lastLine): correct the setting") }
            let names = Set(
                ending.text.split(whereSeparator: { " ,:;?()\n".contains($0) })
                    .filter { $0.hasPrefix("HELIOGRAPH_") }.map { String($0) })
            let found = ending.text.contains("ignored:") ? names : []
            ignored = ignored?.intersection(found) ?? found
        }
        for name in (ignored ?? []).sorted() where getenv(name) != nil {
            advise("no program knows the setting \(name): correct its name (PROGRAM --help lists all), or remove it")
        }
    }

    /// A program in the directory of this one; nil where there is none.
    private static func path(of program: String) -> String? {
        var bytes = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &bytes, bytes.count - 1)
        guard count > 0 else { return nil }
        let own = String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let slash = own.lastIndex(of: "/") else { return nil }
        let path = "\(own[...slash])\(program)"
        return access(path, X_OK) == 0 ? path : nil
    }
}
