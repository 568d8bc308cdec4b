@preconcurrency import Glibc
import RefreshAPI
import Varlink

extension ConnectionOptions {
  /// The time between two attempts to reach a daemon that has ended.
  private static let secondsBetweenAttempts: UInt32 = 1

  /// Passes each reply of a method to `receive` until Ctrl-C; connects again when the daemon ends, as for a restart.
  ///
  /// - Parameter lost: is called when the connection has ended and a message about it stands on standard error.
  func follow<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, lost: () -> Void = {},
    _ receive: (Method.Reply) throws(Failure) -> Void
  ) throws(Failure) {
    var wasHeard = false
    var isLost = false
    while true {
      do throws(Failure) {
        return try DaemonClient(self).stream(method, parameters) { reply throws(Failure) in
          if isLost { warn("the daemon answers again") }
          (wasHeard, isLost) = (true, false)
          try receive(reply)
        }
      } catch {
        guard wasHeard, error.status == .noDaemon else { throw error }
        if !isLost {
          warn("the daemon closed the connection; connecting again when it answers (Ctrl-C ends this)")
          lost()
        }
        isLost = true
        sleep(Self.secondsBetweenAttempts)
      }
    }
  }
}
