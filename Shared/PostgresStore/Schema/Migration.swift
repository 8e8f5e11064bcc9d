internal import SignalingProtocol

/// One numbered SQL file of this build.
///
/// Its first line gives its ``kind`` and ``readersFrom``: `-- expand, readers_from 1` or `-- contract, readers_from 4`.
/// Files up to ``lastWithoutHeader`` have no such line and count as `expand, readers_from 1`.
struct Migration: Equatable, Sendable {
    /// The effect of a migration on processes of the previous release.
    enum Kind: String, Sendable {
        /// Adds things that they can ignore: tables, nullable columns, functions under new names. Applied before
        /// processes of the migration's own release start, because they need it.
        case expand
        /// Removes things that only they use. Applied after they have ended; the migration's own
        /// release works with it and without it.
        case contract
    }

    /// The migration's number; each is higher than those before it.
    var number: Int64
    /// The file's name without its ending: `0001_tables`.
    var name: String
    /// The file's SQL statements.
    var sql: String
    var kind: Kind
    /// The lowest level of a build that works with the database after this migration.
    var readersFrom: Int64

    /// The last file without a line `-- expand, ...`. Files up to it were applied to databases before levels
    /// existed, and must not be edited.
    static let lastWithoutHeader: Int64 = 11

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
        Migration(12, "0012_last_seen", PackageResources._012_last_seen_sql),
        Migration(13, "0013_call_identity", PackageResources._013_call_identity_sql),
        Migration(14, "0014_calls_bound", PackageResources._014_calls_bound_sql),
        Migration(15, "0015_calls_bound_validated", PackageResources._015_calls_bound_validated_sql),
        Migration(16, "0016_calls_by_month", PackageResources._016_calls_by_month_sql),
        Migration(17, "0017_api_keys", PackageResources._017_api_keys_sql),
        Migration(18, "0018_attribute_expectations", PackageResources._018_attribute_expectations_sql),
        Migration(19, "0019_tallies", PackageResources._019_tallies_sql),
        Migration(20, "0020_tallies_of_others", PackageResources._020_tallies_of_others_sql),
        Migration(21, "0021_quick_views", PackageResources._021_quick_views_sql),
        Migration(22, "0022_attribute_history", PackageResources._022_attribute_history_sql),
        Migration(23, "0023_comments", PackageResources._023_comments_sql),
        Migration(24, "0024_reader", PackageResources._024_reader_sql),
        Migration(25, "0025_webhooks", PackageResources._025_webhooks_sql),
        Migration(26, "0026_bans", PackageResources._026_bans_sql),
        Migration(27, "0027_token_revocations", PackageResources._027_token_revocations_sql),
        Migration(28, "0028_before_hooks", PackageResources._028_before_hooks_sql),
        Migration(29, "0029_operators_indexes", PackageResources._029_operators_indexes_sql),
        Migration(30, "0030_hook_options", PackageResources._030_hook_options_sql),
        Migration(31, "0031_stored_by_app", PackageResources._031_stored_by_app_sql),
        Migration(32, "0032_message_events", PackageResources._032_message_events_sql),
        Migration(33, "0033_audit_trail", PackageResources._033_audit_trail_sql),
        Migration(34, "0034_webhook_requests", PackageResources._034_webhook_requests_sql),
        Migration(35, "0035_usage", PackageResources._035_usage_sql),
        Migration(36, "0036_address_bans", PackageResources._036_address_bans_sql),
        Migration(37, "0037_registrations", PackageResources._037_registrations_sql),
        Migration(38, "0038_tallies_of_many", PackageResources._038_tallies_of_many_sql),
        Migration(39, "0039_webhook_names", PackageResources._039_webhook_names_sql),
        Migration(40, "0040_vanishing_parts", PackageResources._040_vanishing_parts_sql),
        Migration(41, "0041_quick_backlog", PackageResources._041_quick_backlog_sql),
    ]

    /// The names of the tables, views, sequences, functions and types that these files make. The partitions that
    /// functions of theirs make later are not among them.
    static let names = Set(all.flatMap { names(in: $0.sql) })

    /// The names that SQL statements give: each begins a line, as all statements of the files do.
    static func names(in sql: String) -> [String] {
        let made = sql.matches(
            of: #/(?m)^ *CREATE (?:OR REPLACE )?(?:TABLE|VIEW|SEQUENCE|FUNCTION|TYPE) (?:IF NOT EXISTS )?([a-z0-9_]+)/#)
        let renamed = sql.matches(of: #/ RENAME TO ([a-z0-9_]+)/#)
        return made.map { String($0.1) } + renamed.map { String($0.1) }
    }

    init(_ number: Int64, _ name: String, _ bytes: [UInt8]) {
        self.number = number
        self.name = name
        sql = String(decoding: bytes, as: UTF8.self)
        if number <= Self.lastWithoutHeader {
            (kind, readersFrom) = (.expand, 1)
        } else if let header = Self.header(of: sql) {
            (kind, readersFrom) = header
        } else {
            preconditionFailure("\(name) must begin with a line such as `-- expand, readers_from 1`")
        }
    }

    /// Parses the first line of a file; nil when it has another form.
    static func header(of sql: String) -> (kind: Kind, readersFrom: Int64)? {
        let line = sql.prefix { $0 != "\n" }
        guard let match = line.wholeMatch(of: #/-- (expand|contract), readers_from ([1-9][0-9]{0,8})/#),
            let kind = Kind(rawValue: String(match.1)), let level = Int64(match.2)
        else { return nil }
        return (kind, level)
    }

    /// The 64-bit FNV-1a hash of the SQL in hex, which reveals that an applied file was edited later. Guards against
    /// mistakes, not against malice.
    var checksum: String {
        Hex.text(FNV1a.hash(sql.utf8))
    }
}
