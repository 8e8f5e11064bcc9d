import Testing

@testable import PostgresStore

@Suite struct PostgresLinkTests {
    /// What comes before the URL, the URL may override; what comes after it, overrides the URL.
    @Test func aHostReplacesTheURLsListAndTheURLMayAskForKerberos() throws {
        let url = "postgresql://u@a:1,b:2/d?target_session_attrs=read-write"
        let settings = PostgresLink.settings(of: try PostgresConfiguration(url: url), host: 1)
        #expect(
            settings.map { "\($0.keyword)=\($0.value)" } == [
                "gssencmode=disable", "dbname=\(url)", "client_encoding=UTF8",
                "fallback_application_name=heliograph", "host=b", "port=2", "target_session_attrs=any",
            ])
    }
}
