import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore
import Varlink

extension Daemon {
  /// How many refreshes and waits an explanation goes back.
  private static let pastLimit = 20
  /// How many pushes that were dropped it shows.
  private static let droppedLimit = 10

  /// Explains the verdict on an app, term by term, and tells what was before (FEATURES H1).
  func why(_ call: Call<ManagerInterface.Why.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    Task {
      do throws(StoreError) {
        let past = try await past(of: app.id, limit: Self.pastLimit)
        let dropped = try await store.droppedPushes(of: app.id, limit: Self.droppedLimit)
        // The app may have gone while the store was read.
        guard let app = configuration[app.id], let why = explanation(of: app, past: past, dropped) else {
          return call.fail(RefreshdInterface.NoSuchApp(app: call.parameters.app))
        }
        call.reply(ManagerInterface.Why.Reply(why: why))
      } catch {
        notice(error)
        call.fail(ManagerInterface.NotReadable(problem: error.description))
      }
    }
  }

  /// The last refreshes and waits of an app, the newest first.
  func past(of app: AppID, limit: Int) async throws(StoreError) -> [Wire.Past] {
    let refreshes = try await store.history(of: app, limit: limit)
    let waits = try await store.waits(of: app, limit: limit)
    let all =
      refreshes.map { ($0.startedWallMicroseconds, Wire.Past(refresh: Wire.Refresh($0))) }
      + waits.map { ($0.sinceWallMicroseconds, Wire.Past(wait: Wire.Wait($0))) }
    return all.sorted { $0.0 > $1.0 }.prefix(limit).map(\.1)
  }

  private func explanation(
    of app: AppConfiguration, past: [Wire.Past], _ dropped: [StoredDroppedPush]
  ) -> Wire.Explanation? {
    let view = view(of: app)
    let now = readClocks()
    return engine.explain(app.id, at: now).map { explanation in
      ExplanationView(
        view: view, explanation: explanation, conditions: engine.conditions, pause: engine.device.pause, past: past,
        pushesUsed: engine.pushesUsed(by: app.id, at: now), pushesDropped: dropped
      ).wire
    }
  }
}
