internal import CPostgres
internal import Glibc
internal import Pacing

/// One libpq connection. Its methods block until the result or the deadline; only one actor uses it, on its own thread.
///
/// After an error of kind ``PostgresError/Kind/closed`` or ``PostgresError/Kind/timeout`` it must be discarded.
final class PostgresLink {
    /// The host's index in ``PostgresConfiguration/hosts``.
    let host: Int
    private let connection: OpaquePointer
    private let preparedBound: Int
    private var prepared: [String: String] = [:]

    /// Connects to one host.
    /// - Parameter host: the host's index in ``PostgresConfiguration/hosts``.
    /// - Throws: ``PostgresError`` of kind `closed` with libpq's reason, of kind `timeout`, or what
    ///   ``ServerRequirement`` gives for a server that must not be used.
    init(
        configuration: PostgresConfiguration, host: Int, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        let settings = Self.settings(of: configuration, host: host)
        guard let connection = Self.start(keywords: settings.map(\.keyword), values: settings.map(\.value)) else {
            throw PostgresError(.closed, "libpq is out of memory for a connection")
        }
        self.connection = connection
        self.host = host
        // libpq would print notices to standard error.
        PQsetNoticeReceiver(connection, { _, _ in }, nil)
        preparedBound = configuration.preparedStatements
        try establish(until: deadline)
        try prepare(configuration, until: deadline)
    }

    /// What libpq is told of a host; a later keyword overrides an earlier one.
    static func settings(of configuration: PostgresConfiguration, host: Int) -> [(keyword: String, value: String)] {
        // Unless the URL asks for it, no encryption by Kerberos is tried: each connection would look for credentials,
        // and a program that ends meanwhile is aborted by Kerberos' library.
        var settings = [("gssencmode", "disable"), ("dbname", configuration.url)]
        settings += [("client_encoding", "UTF8"), ("fallback_application_name", "heliograph")]
        // The single host replaces the URL's list, and whether the server may be used is decided afterwards.
        settings += configuration.hosts[host].sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        return settings + [("target_session_attrs", "any")]
    }

    private func establish(until deadline: ContinuousClock.Instant) throws(PostgresError) {
        guard PQstatus(connection) != CONNECTION_BAD else { throw closed() }
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            guard state != PGRES_POLLING_FAILED else { throw closed() }
            try wait(for: state == PGRES_POLLING_READING ? POLLIN : POLLOUT, until: deadline)
            state = PQconnectPoll(connection)
        }
        guard PQsetnonblocking(connection, 1) == 0 else { throw closed() }
    }

    /// Makes the connection's settings, and checks that the server may be used.
    private func prepare(
        _ configuration: PostgresConfiguration, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        let milliseconds = configuration.queryTimeout.millisecondsRoundedUp
        // Quotes are doubled, and a backslash is one character, as standard_conforming_strings has it.
        let cause = (configuration.cause?.text ?? "").split(separator: "'", omittingEmptySubsequences: false)
        let rows = try simple(
            """
            SET client_min_messages = warning;
            SET statement_timeout = \(milliseconds);
            SET lock_timeout = \(milliseconds);
            SET standard_conforming_strings = on;
            SET heliograph.cause = '\(cause.joined(separator: "''"))';
            SELECT pg_is_in_recovery() AS standby,
                current_setting('default_transaction_read_only')::boolean AS read_only
            """, until: deadline)
        guard let row = rows.first else {
            throw PostgresError(.shape, "PostgreSQL did not say whether it is a standby")
        }
        let refusal = configuration.requirement.refusal(
            isStandby: try row.bool("standby"), isReadOnly: try row.bool("read_only"))
        if let refusal { throw refusal }
    }

    deinit { PQfinish(connection) }

    private static func start(keywords: [String], values: [String]) -> OpaquePointer? {
        let keywords = keywords.map { strdup($0) }
        let values = values.map { strdup($0) }
        defer { for pointer in keywords + values { free(pointer) } }
        let keywordPointers: [UnsafePointer<CChar>?] = keywords.map { UnsafePointer($0) } + [nil]
        let valuePointers: [UnsafePointer<CChar>?] = values.map { UnsafePointer($0) } + [nil]
        return PQconnectStartParams(keywordPointers, valuePointers, 1)
    }

    /// Whether the server has closed an idle connection, as it does when it shuts down. Checked before each query: once
    /// something has been sent on such a connection, its outcome is unknown.
    func isStale() -> Bool {
        // The server's final message comes before the end of the stream: read until nothing more is available.
        for _ in 0..<8 {
            guard PQstatus(connection) != CONNECTION_BAD else { return true }
            var descriptor = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, 0) > 0 else { return false }
            guard PQconsumeInput(connection) == 1 else { return true }
        }
        return true
    }

    /// Runs one statement; it is prepared when first seen.
    func query(
        _ sql: String, _ parameters: [PostgresParameter], until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> PostgresRows {
        var texts: [[CChar]?] = []
        for parameter in parameters { texts.append(try parameter.terminated()) }
        let name = try statement(sql, until: deadline)
        let sent = Self.withPointers(to: texts) { pointers in
            if let name {
                PQsendQueryPrepared(connection, name, Int32(texts.count), pointers, nil, nil, 0)
            } else {
                PQsendQueryParams(connection, sql, Int32(texts.count), nil, pointers, nil, nil, 0)
            }
        }
        guard sent == 1 else { throw closed() }
        return try results(until: deadline)
    }

    /// Runs statements separated by semicolons, without parameters.
    func script(_ sql: String, until deadline: ContinuousClock.Instant) throws(PostgresError) {
        guard !sql.utf8.contains(0) else { throw PostgresError(.nul, "the script contains a NUL character") }
        _ = try simple(sql, until: deadline)
    }

    /// Runs statements separated by semicolons. Returns the rows of the last one.
    private func simple(_ sql: String, until deadline: ContinuousClock.Instant) throws(PostgresError) -> PostgresRows {
        guard PQsendQuery(connection, sql) == 1 else { throw closed() }
        return try results(until: deadline)
    }

    private func statement(
        _ sql: String, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> String? {
        if let name = prepared[sql] { return name }
        guard prepared.count < preparedBound else { return nil }
        let name = "s\(prepared.count)"
        guard PQsendPrepare(connection, name, sql, 0, nil) == 1 else { throw closed() }
        _ = try results(until: deadline)
        prepared[sql] = name
        return name
    }

    /// Reads until the statement has ended. Returns the last result's rows or throws the first error.
    private func results(until deadline: ContinuousClock.Instant) throws(PostgresError) -> PostgresRows {
        var rows = PostgresRows(columns: [], cells: [], rowCount: 0, affected: 0)
        var failure: PostgresError?
        try flush(until: deadline)
        while true {
            while PQisBusy(connection) == 1 {
                try wait(for: POLLIN, until: deadline)
                guard PQconsumeInput(connection) == 1 else { throw failure ?? closed() }
            }
            guard let result = PQgetResult(connection) else { break }
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: rows = PostgresRows(result)
            default: failure = failure ?? error(of: result)
            }
        }
        if let failure { throw failure }
        return rows
    }

    private func flush(until deadline: ContinuousClock.Instant) throws(PostgresError) {
        while true {
            let left = PQflush(connection)
            guard left != -1 else { throw closed() }
            guard left == 1 else { return }
            // The server may itself be blocked on sending: unless its data is read here,
            // both sides would wait for ever.
            let ready = try wait(for: POLLIN | POLLOUT, until: deadline)
            if ready & POLLIN != 0, PQconsumeInput(connection) == 0 { throw closed() }
        }
    }

    @discardableResult
    private func wait(for events: Int32, until deadline: ContinuousClock.Instant) throws(PostgresError) -> Int32 {
        while true {
            let left = (deadline - ContinuousClock.now).millisecondsRoundedUp
            guard left > 0 else { throw PostgresError(.timeout, "PostgreSQL did not answer within the deadline") }
            var descriptor = pollfd(fd: PQsocket(connection), events: Int16(events), revents: 0)
            let count = poll(&descriptor, 1, Int32(clamping: left))
            if count > 0 { return Int32(descriptor.revents) }
            guard count == 0 || errno == EINTR else { throw closed() }
        }
    }

    private func closed() -> PostgresError {
        let text = String(cString: PQerrorMessage(connection)).split(separator: "\n").joined(separator: " ")
        return PostgresError(.closed, text.isEmpty ? "lost the connection to PostgreSQL" : text)
    }

    private func error(of result: OpaquePointer) -> PostgresError {
        func field(_ name: Character) -> String? {
            PQresultErrorField(result, Int32(name.asciiValue ?? 0)).map { String(cString: $0) }
        }
        // An error without a SQLSTATE is libpq's own: the connection is lost.
        guard let state = field("C") else { return closed() }
        return PostgresError(sqlState: state, message: field("M") ?? "no message")
    }

    private static func withPointers<Result>(
        to texts: [[CChar]?], _ body: ([UnsafePointer<CChar>?]) -> Result
    ) -> Result {
        let all = texts.flatMap { $0 ?? [] }
        return all.withUnsafeBufferPointer { buffer in
            var offset = 0
            var pointers: [UnsafePointer<CChar>?] = []
            for text in texts {
                pointers.append(text == nil ? nil : buffer.baseAddress.map { $0 + offset })
                offset += text?.count ?? 0
            }
            return body(pointers)
        }
    }
}

extension PostgresRows {
    fileprivate init(_ result: OpaquePointer) {
        let width = PQnfields(result)
        let height = PQntuples(result)
        var cells: [String?] = []
        cells.reserveCapacity(Int(width) * Int(height))
        for row in 0..<height {
            for column in 0..<width {
                guard PQgetisnull(result, row, column) == 0, let start = PQgetvalue(result, row, column) else {
                    cells.append(nil)
                    continue
                }
                let bytes = UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, column)))
                cells.append(String(decoding: bytes, as: UTF8.self))
            }
        }
        let columns = (0..<width).map { String(cString: PQfname(result, $0)) }
        let affected = Int(String(cString: PQcmdTuples(result))) ?? 0
        self.init(columns: columns, cells: cells, rowCount: Int(height), affected: affected)
    }
}
