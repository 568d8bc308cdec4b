/// The parts of the daemon that follow users' sessions: logins, the presence of apps on desktops, and notices.
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
