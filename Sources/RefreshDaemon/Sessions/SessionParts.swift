/// The parts of the daemon that follow the sessions of users: who has one, what the desktops show, and what they are to
/// show.
struct SessionParts {
  let logins: SessionFollower
  let desktops: DesktopSessions
  let notices: DesktopNotices

  init(_ core: DaemonCore, _ audience: Audience, _ notifyCommands: NotifyCommands, _ ports: Ports) {
    logins = SessionFollower(core, audience, ports.conditions)
    desktops = DesktopSessions(core, audience)
    notices = DesktopNotices(core, desktops, notifyCommands, ports.journal)
  }
}
