import RefreshAPI
import RefreshConfig
import Varlink

// Lists in calls: the server bounds their lengths (``IncomingCall``), and each value counts once.

extension Daemon {
  /// The apps of a call, if the caller may ask about each; answers the call otherwise.
  func apps<Parameters>(named names: [String], for call: Call<Parameters>) -> [AppConfiguration]? {
    apps(named: names, for: call) { self.app(named: $0, for: call) }
  }

  /// The apps of a call, if the caller may ask about each and none is a guard; answers the call otherwise.
  func refreshedApps<Parameters>(named names: [String], for call: Call<Parameters>) -> [AppConfiguration]? {
    apps(named: names, for: call) { refreshedApp(named: $0, for: call) }
  }

  private func apps<Parameters>(
    named names: [String], for call: Call<Parameters>, _ lookUp: (String) -> AppConfiguration?
  ) -> [AppConfiguration]? {
    guard !names.isEmpty else {
      call.fail(InvalidParameter(parameter: "apps"))
      return nil
    }
    var apps: [AppConfiguration] = []
    for name in names.withoutDuplicates {
      guard let app = lookUp(name) else { return nil }
      apps.append(app)
    }
    return apps
  }
}

extension Array where Element: Hashable {
  /// The values in order, each once.
  var withoutDuplicates: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
