import JSON
import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore
import Varlink

extension Daemon {
  /// Handles events, and answers when their changes are on the disk; takes back changes that cannot be stored.
  func change<Parameters>(
    _ events: [Event], for call: Call<Parameters>, reply: @escaping () -> some JSONWritable
  ) {
    handleDurably(events) { problem in call.conclude(problem, reply) }
  }

  /// Handles events, and answers with the rows of apps when the changes are on the disk, in the caller's own turns.
  ///
  /// Calls `then` when the changes are on the disk, also if nobody receives the answer.
  func change<Parameters, Reply: JSONWritable>(
    _ events: [Event], of apps: [AppConfiguration], for call: Call<Parameters>, then: @escaping () -> Void = {},
    reply: @escaping ([Wire.App]) -> Reply
  ) {
    handleDurably(events) { problem in
      if let problem { return call.fail(RefreshdInterface.NotStored(problem: problem.description)) }
      then()
      if call.isUnheard { return call.drop() }
      self.rows(of: apps, for: call) { call.reply(reply($0)) }
    }
  }

  /// The instant of a wall time; nil before 1970 or more than ten years from now.
  func instant(ofWallMicroseconds microseconds: Int64) -> Instant? {
    let now = core.readClocks()
    let latest = (now + Duration.longest).wallMicroseconds(at: core.engine.wallOffset)
    guard (0...max(0, latest)).contains(microseconds) else { return nil }
    return Instant(microseconds: microseconds) - core.engine.wallOffset
  }
}

extension Call {
  /// Gives the last answer to a call: the reply if its change is on the disk, else the error.
  func conclude(_ problem: StoreError?, _ reply: () -> some JSONWritable) {
    if let problem { return fail(RefreshdInterface.NotStored(problem: problem.description)) }
    if isUnheard { drop() } else { self.reply(reply()) }
  }
}
