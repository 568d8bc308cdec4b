import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct TopCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top", abstract: "Show the apps on a live screen, and switch them by keys.",
    discussion: """
      Keys: the arrows select an app, w explains its next refresh, r refreshes it now, d disables and enables it, f \
      marks it as in the foreground or the background, p pauses all apps for the rest of the day or resumes. \
      Other keys: / filters, ? shows all keys, q quits. The same key undoes what it did. The screen follows the \
      daemon, also after a restart of it.

      With --plain nothing moves, for screen readers: it prints the list once for each connection to the daemon, then \
      one line for each event, until Ctrl-C. So it does also without a terminal for input and output, and with \
      TERM=dumb. Other commands act there, such as `refreshctl run`.
      """)

  @Flag(help: "Print the list, then one line for each event; no screen and no keys.")
  var plain = false

  @OptionGroup var daemon: SocketOptions

  func run() throws {
    guard !plain, LiveTerminal.isThere else { return try printEvents() }
    var loop = try TopLoop(daemon)
    guard case .signal(let number) = try loop.run() else { return }
    // The end by the same signal tells the shell of a script about it.
    TopSignals.obey(number)
  }

  private func printEvents() throws(Failure) {
    try daemon.follow(ManagerInterface.Watch.self, .init()) { reply throws(Failure) in
      let screen = Screen(of: STDOUT_FILENO)
      // Request the list after the events have begun, so that no change is missed between them.
      let isFirst = reply.event.kind == .watching
      let lines =
        isFirst
        ? screen.text(try DaemonClient(socket: daemon.socket).call(ManagerInterface.List.self, .init()))
        : [screen.line(reply.event)].compactMap(\.self)
      for line in lines { print(screen.encoded(line)) }
      fflush(stdout)
    }
  }
}
