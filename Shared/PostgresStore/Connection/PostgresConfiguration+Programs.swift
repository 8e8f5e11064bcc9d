internal import CPostgres

extension PostgresConfiguration {
    /// The variables by which PostgreSQL's own programs (`pg_dump`, `psql`) find the server as the URL says, so that
    /// nothing of it is on their command line, which every user of the machine can read. Contains the password.
    package var environment: [String: String] {
        guard let options = PQconninfoParse(url, nil) else { return [:] }
        defer { PQconninfoFree(options) }
        var variables: [String: String] = [:]
        var option = options
        while option.pointee.keyword != nil {
            if let name = option.pointee.envvar, let value = option.pointee.val {
                variables[String(cString: name)] = String(cString: value)
            }
            option += 1
        }
        return variables
    }
}
