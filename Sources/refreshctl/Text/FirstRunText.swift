import Glibc
import RefreshAPI

extension Screen {
  /// The state of the daemon and the next steps: the answer to `refreshctl` without a subcommand.
  func overview(_ daemon: Wire.DaemonStatus) -> [String] {
    let others = daemon.hasAppsOfOthers == true
    if daemon.apps == 0 {
      let whose = daemon.isUserDaemon ? "Your own daemon" : "The system's daemon"
      return wrapped(
        "\(whose), refreshd \(printable(daemon.version)), runs. "
          + (others ? "You have no app in it; others have." : "It has no app yet."))
        + steps(Self.first(for: daemon, by: geteuid()))
    }
    let next = daemon.next.flatMap { next in
      next.startMicroseconds.map { "Next: \(printable(next.app)), \(relative($0))." }
    }
    let apps =
      "\(count(daemon.apps, "app")), \(daemon.refreshing == 0 ? "none" : "\(daemon.refreshing)") being refreshed."
    return wrapped(sentence(daemon)) + wrapped([apps, next].compactMap(\.self).joined(separator: " "))
      + steps(Self.daily)
  }

  /// The next steps if no daemon answers.
  func overview(without socket: SocketPath) -> [String] {
    wrapped("refreshd keeps the data of apps fresh. No daemon answers on \(printable(socket.path)); \(socket.remedy).")
      + steps(Self.first())
  }

  /// The first steps of a user; without root, `refreshctl new` writes for the user's own daemon.
  static func first(
    for daemon: Wire.DaemonStatus? = nil, by uid: UInt32 = 0
  ) -> [(command: String, about: String)] {
    let sudo = uid != 0 && daemon?.isUserDaemon == false ? "sudo " : ""
    return [
      ("\(sudo)refreshctl new", "write the file of an app; it asks for what it needs"),
      ("man refreshd-app", "every key of such a file"),
      ("refreshctl --help", "all subcommands"),
    ]
  }
  private static let daily = [
    ("refreshctl list", "every app; `top` shows them live"),
    ("refreshctl why APP", "why it was refreshed, or was not, and when it will be"),
    ("refreshctl --help", "all subcommands; `new` writes the file of another app"),
  ]

  private func steps(_ steps: [(command: String, about: String)]) -> [String] {
    steps.map { step in
      let gap = String(repeating: " ", count: max(1, 20 - step.command.count))
      return "  \(paint(step.command, .title))\(gap)\(step.about)"
    }
  }
}
