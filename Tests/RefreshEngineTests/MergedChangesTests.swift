import Testing

@testable import RefreshEngine

/// How the changes of several decisions become those of one commit.
struct MergedChangesTests {
  private let todo = AppID("org.example.todo")
  private let mail = AppID("org.example.mail")

  @Test func `An erased app has nothing else to save, and another app keeps its changes`() throws {
    let (todo, mail) = (try #require(todo), try #require(mail))
    var changes = changed([todo, mail])
    var erasure = Changes()
    erasure.erase(todo)
    changes.merge(erasure)
    #expect(changes.erased == [todo])
    #expect(changes.apps == [mail] && changes.learned == [mail])
    #expect(changes.history.waits.map(\.app) == [mail])
  }

  @Test func `An erasure that is taken back erases nothing, and the app is saved as it was`() throws {
    let todo = try #require(todo)
    var changes = Changes()
    changes.erase(todo)
    var back = changed([todo])
    back.restore(todo)
    changes.merge(back)
    #expect(changes.erased.isEmpty)
    #expect(changes.apps == [todo] && changes.learned == [todo])
    var again = Changes()
    again.erase(todo)
    changes.merge(again)
    #expect(changes.erased == [todo] && changes.restored.isEmpty && changes.apps.isEmpty)
  }

  @Test func `A file may name an app again that was just erased: both are saved`() throws {
    let todo = try #require(todo)
    var changes = Changes()
    changes.erase(todo)
    changes.merge(changed([todo]))
    #expect(changes.erased == [todo] && changes.apps == [todo])
  }

  @Test func `The later change of a push holds`() throws {
    let todo = try #require(todo)
    let push = Push(id: PushID(1), payload: "1", contentID: nil, urgency: .normal, at: Instant(microseconds: 0))
    var (changes, later) = (Changes(), Changes())
    changes.pushes = [push.id: .kept(todo, push), PushID(2): .gone]
    later.pushes = [push.id: .merged]
    changes.merge(later)
    #expect(changes.pushes == [push.id: .merged, PushID(2): .gone])
  }

  private func changed(_ apps: [AppID]) -> Changes {
    var changes = Changes()
    (changes.apps, changes.learned) = (Set(apps), Set(apps))
    let now = Instant(microseconds: 0)
    changes.history.waits = apps.map { WaitRecord(app: $0, since: now, until: now, holds: [.paused]) }
    return changes
  }
}
