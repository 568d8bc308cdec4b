@preconcurrency import Glibc

/// How long a call waits for the daemon's first reply.
///
/// systemd owns the socket, so a call is accepted even while the daemon cannot start.
struct AnswerWait {
  /// Seconds until a message on standard error says that the daemon is silent; nil says nothing.
  var secondsUntilMessage: Int32?
  /// Seconds until the call fails.
  ///
  /// The daemon's own waits are shorter: it reads configuration folders for 30 s at most.
  let secondsAtMost: Int32

  /// The wait of a person at a terminal, or of a script.
  static let ofPerson = AnswerWait(secondsUntilMessage: 5, secondsAtMost: 60)
  /// The wait of a lease; meanwhile its command runs, and its end is not noticed.
  static let ofLease = AnswerWait(secondsAtMost: 5)
  /// The wait of a command that goes on without a daemon.
  static let ofOverview = AnswerWait(secondsAtMost: 10)
  /// The wait of a shell that completes a word.
  static let ofCompletion = AnswerWait(secondsAtMost: 1)

  /// Waits until the socket has a reply or the connection ends.
  func forAnswer(on descriptor: Int32) throws(Failure) {
    var rest = secondsAtMost
    if let secondsUntilMessage {
      if Self.isReady(descriptor, within: secondsUntilMessage) { return }
      warn("no answer from the daemon for \(secondsUntilMessage) s; waiting \(rest - secondsUntilMessage) s more")
      rest -= secondsUntilMessage
    }
    guard Self.isReady(descriptor, within: rest) else {
      throw Failure(
        status: .noDaemon,
        text:
          "cannot get an answer: the daemon has said nothing for \(secondsAtMost) s; read the daemon's journal for the "
          + "reason, then try again")
    }
  }

  private static func isReady(_ descriptor: Int32, within seconds: Int32) -> Bool {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    let end = Int64(now.tv_sec + Int(seconds)) * 1000 + Int64(now.tv_nsec) / 1_000_000
    while true {
      clock_gettime(CLOCK_MONOTONIC, &now)
      let rest = end - Int64(now.tv_sec) * 1000 - Int64(now.tv_nsec) / 1_000_000
      var set = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let count = poll(&set, 1, Int32(max(0, rest)))
      // A signal that is handled, such as SIGWINCH, interrupts poll(2).
      if count >= 0 || errno != EINTR { return count != 0 }
    }
  }
}
