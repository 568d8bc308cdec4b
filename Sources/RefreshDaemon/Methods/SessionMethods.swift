import RefreshAPI
import Varlink

// The calls of refresh-session: each speaks for the apps of its own user only.

extension Daemon {
  /// The interface of a user's session, with the handler of each method.
  var sessionInterface: Interface {
    var interface = Interface(SessionInterface.self)
    interface.serve(SessionInterface.Follow.self, as: .watch, forPeople { self.followDesktop($0) })
    interface.serve(SessionInterface.Report.self, forPeople { self.reportDesktop($0) })
    return interface
  }

  /// Tells a session which apps to watch for, until the connection ends.
  func followDesktop(_ call: Call<SessionInterface.Follow.Parameters>) {
    guard mayShow(call) else { return }
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    if desktops.follow(call) { notices.sessionCame(of: call.peer.uid) }
  }

  /// Takes a session's report about its user's apps.
  func reportDesktop(_ call: Call<SessionInterface.Report.Parameters>) {
    guard mayShow(call) else { return }
    desktops.report(call)
  }

  /// Whether the caller may speak for a session of its user; answers the call if not.
  ///
  /// A task and a sandboxed app may not, because they would speak for other apps.
  private func mayShow<Parameters>(_ call: Call<Parameters>) -> Bool {
    if core.access.maySeeOwn(call.peer) { return true }
    call.fail(RefreshdInterface.NotAllowed(remedy: core.access.remedy))
    return false
  }
}
