import Pacing
import SignalingProtocol
import Testing

@testable import SIPBridgeLogic

@Suite("What operators are told of registrations")
struct RegistrationBookTests {
    private let (anna, bert): (AppID, AppID)

    init() throws { (anna, bert) = (try AppID("anna"), try AppID("bert")) }

    private func at(_ seconds: Int64) -> LocalTime { LocalTime(milliseconds: seconds * 1000) }

    @Test("The latest of what was noted is told once")
    func latest() {
        var book = RegistrationBook()
        #expect(book.takeUntold(atMost: 10).isEmpty)
        book.note(.unanswered, of: anna, until: at(62))
        book.note(.registered, of: anna, until: at(3600))
        book.note(.refused(status: 403), of: bert, until: at(360))
        #expect(
            book.takeUntold(atMost: 10) == [
                anna: RegistrationBook.Entry(standing: .registered, end: at(3600)),
                bert: RegistrationBook.Entry(standing: .refused(status: 403), end: at(360)),
            ])
        #expect(book.takeUntold(atMost: 10).isEmpty)
    }

    @Test("What has ended is told as such; what was never known is not")
    func ends() {
        var book = RegistrationBook()
        book.forget(anna)
        #expect(book.takeUntold(atMost: 10).isEmpty)
        book.note(.registered, of: anna, until: at(3600))
        _ = book.takeUntold(atMost: 10)
        book.forget(anna)
        let taken = book.takeUntold(atMost: 10)
        #expect(taken.count == 1 && taken[anna] == .some(nil))
    }

    @Test("What could not be told is told later, as it is then")
    func again() {
        var book = RegistrationBook()
        book.note(.unanswered, of: anna, until: at(62))
        let taken = book.takeUntold(atMost: 10)
        book.note(.registered, of: anna, until: at(3600))
        book.putBack(taken.keys)
        #expect(
            book.takeUntold(atMost: 10) == [anna: RegistrationBook.Entry(standing: .registered, end: at(3600))])
    }

    @Test("More than the bound wait")
    func bound() {
        var book = RegistrationBook()
        for app in [anna, bert] { book.note(.unanswered, of: app, until: at(62)) }
        #expect(book.takeUntold(atMost: 1).count == 1)
        #expect(book.takeUntold(atMost: 1).count == 1)
        #expect(book.takeUntold(atMost: 1).isEmpty)
    }

    @Test("A binding counts until it ends")
    func count() {
        var book = RegistrationBook()
        book.note(.registered, of: anna, until: at(10))
        book.note(.unanswered, of: bert, until: at(10))
        #expect(book.registered(at: at(9)) == 1)
        #expect(book.registered(at: at(10)) == 0)
        book.forget(anna)
        #expect(book.registered(at: at(9)) == 0)
    }
}
