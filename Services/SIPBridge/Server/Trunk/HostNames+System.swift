internal import Glibc
internal import SIPBridgeLogic

extension HostNames {
    /// The names in the machine's hosts file, which libre's resolver does not read; empty when there is no such file.
    static func ofSystem() -> HostNames {
        guard let file = fopen("/etc/hosts", "r") else { return HostNames(hostsFile: "") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: HostNames.maxBytes)
        let count = fread(&bytes, 1, bytes.count, file)
        return HostNames(hostsFile: String(decoding: bytes[..<count], as: UTF8.self))
    }
}
