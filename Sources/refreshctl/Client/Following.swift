@preconcurrency import Glibc
import RefreshAPI
import Varlink

extension SocketOptions {
  /// The time between two attempts to reach a daemon that has ended.
  static let secondsBetweenAttempts: UInt32 = 1
  static let lostWords = "the daemon closed the connection; connecting again when it answers"
  static let foundWords = "the daemon answers again"

  /// Passes each reply of a method to `receive` until Ctrl-C; reconnects when the daemon ends, for example at a restart.
  ///
  /// Calls `lost` after the end of the connection and the message about it on standard error.
  func follow<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, lost: () -> Void = {},
    _ receive: (Method.Reply) throws(Failure) -> Void
  ) throws(Failure) {
    try follow(
      method, parameters, lost: lost,
      untilFalse: { reply throws(Failure) in
        try receive(reply)
        return true
      })
  }

  /// Passes each reply to `receive` until it returns false or the daemon ends the answer; reconnects likewise.
  func follow<Method: InterfaceMethod>(
    _ method: Method.Type, _ parameters: Method.Parameters, lost: () -> Void,
    untilFalse receive: (Method.Reply) throws(Failure) -> Bool
  ) throws(Failure) {
    var wasHeard = false
    var isLost = false
    while true {
      do throws(Failure) {
        return try DaemonClient(socket: socket).follow(method, parameters) { reply throws(Failure) in
          if isLost { warn(Self.foundWords) }
          (wasHeard, isLost) = (true, false)
          return try receive(reply)
        }
      } catch {
        guard wasHeard, error.status == .noDaemon else { throw error }
        if !isLost {
          warn("\(Self.lostWords) (Ctrl-C ends this)")
          lost()
        }
        isLost = true
        sleep(Self.secondsBetweenAttempts)
      }
    }
  }
}
