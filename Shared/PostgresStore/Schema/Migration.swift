/// One numbered SQL file of this build.
struct Migration: Equatable, Sendable {
    /// Counts from 1 without gaps.
    var number: Int64
    /// The file's name without its ending: `0001_tables`.
    var name: String
    /// The file's SQL statements.
    var sql: String

    /// All migrations, in order. A file in `Migrations` is applied only when listed here; a test compares the two.
    static let all = [
        Migration(1, "0001_tables", PackageResources._001_tables_sql),
        Migration(2, "0002_users", PackageResources._002_users_sql),
        Migration(3, "0003_channel_attributes", PackageResources._003_channel_attributes_sql),
        Migration(4, "0004_user_attributes", PackageResources._004_user_attributes_sql),
        Migration(5, "0005_views", PackageResources._005_views_sql),
        Migration(6, "0006_phones", PackageResources._006_phones_sql),
        Migration(7, "0007_logins", PackageResources._007_logins_sql),
        Migration(8, "0008_login_order", PackageResources._008_login_order_sql),
        Migration(9, "0009_attribute_bounds", PackageResources._009_attribute_bounds_sql),
        Migration(10, "0010_joined_channels", PackageResources._010_joined_channels_sql),
        Migration(11, "0011_phone_policy", PackageResources._011_phone_policy_sql),
    ]

    init(_ number: Int64, _ name: String, _ bytes: [UInt8]) {
        self.number = number
        self.name = name
        sql = String(decoding: bytes, as: UTF8.self)
    }

    /// The 64-bit FNV-1a hash of the SQL in hex, which reveals that an applied file was edited later. Guards against
    /// mistakes, not against malice.
    var checksum: String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in sql.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
