/// A file of the console or the playground, as browsers get it. Decision 27.
package struct PageFile: Sendable {
    /// Which page it belongs to.
    package enum Page: Sendable {
        case console
        case playground
    }

    /// The path at which it is served.
    package let path: String
    /// Its `Content-Type`.
    package let type: String
    /// The page, which decides what the file may connect to; files of both belong to the
    /// console, whose rules are stricter.
    package let page: Page
    package let content: [UInt8]

    private init(_ path: String, _ content: [UInt8], _ page: Page = .console) {
        self.path = path
        self.content = content
        self.page = page
        type =
            switch path.split(separator: ".").last {
            case "js": "text/javascript; charset=utf-8"
            case "css": "text/css; charset=utf-8"
            case "svg": "image/svg+xml"
            default: "text/html; charset=utf-8"
            }
    }

    /// All files. The names of the resources are those in the folders beside this file; each is served at one path.
    package static let all: [PageFile] = [
        PageFile("/pages/base.css", PackageResources.base_css),
        PageFile("/pages/dom.js", PackageResources.dom_js),
        PageFile("/pages/icon.svg", PackageResources.icon_svg),
        PageFile("/console/", PackageResources.console_html),
        PageFile("/console/console.css", PackageResources.console_css),
        PageFile("/console/console.js", PackageResources.console_js),
        PageFile("/console/api.js", PackageResources.api_js),
        PageFile("/console/charts.js", PackageResources.charts_js),
        PageFile("/console/events.js", PackageResources.events_js),
        PageFile("/console/lists.js", PackageResources.lists_js),
        PageFile("/console/messages.js", PackageResources.messages_js),
        PageFile("/console/overview.js", PackageResources.overview_js),
        PageFile("/console/panels.js", PackageResources.panels_js),
        PageFile("/console/parts.js", PackageResources.parts_js),
        PageFile("/console/settings.js", PackageResources.settings_js),
        PageFile("/console/session.js", PackageResources.session_js),
        PageFile("/console/table.js", PackageResources.table_js),
        PageFile("/playground/", PackageResources.playground_html, .playground),
        PageFile("/playground/playground.css", PackageResources.playground_css, .playground),
        PageFile("/playground/playground.js", PackageResources.playground_js, .playground),
        PageFile("/playground/wire.js", PackageResources.wire_js, .playground),
        PageFile("/playground/person.js", PackageResources.person_js, .playground),
        PageFile("/playground/examples.js", PackageResources.examples_js, .playground),
        PageFile("/playground/heliograph.js", PackageResources.heliograph_js, .playground),
    ]
}
