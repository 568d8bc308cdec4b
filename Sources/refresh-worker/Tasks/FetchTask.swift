import CLinux
import Glibc
import RefreshAPI
import Varlink

/// The built-in task `http`: fetches, has the daemon remember what came, and tells it how it went.
enum FetchTask {
  /// Does all of it, and gives the exit code.
  static func run() -> Int32 {
    let trouble = Confinement.enter()
    guard let surroundings = Surroundings(), let order = Surroundings.order(as: Wire.FetchOrder.self) else {
      return EX_USAGE
    }
    if let trouble { return surroundings.end(TaskResult(trouble)) }
    surroundings.endInTime()
    let terminated = linux_signal_descriptor(SIGTERM)
    do throws(Trouble) {
      guard let result = try Fetching(order).run(until: terminated) else { return EX_TEMPFAIL }
      if let remembered = result.remembered { remember(remembered, of: order.url, surroundings) }
      return surroundings.end(result)
    } catch {
      return surroundings.end(TaskResult(error))
    }
  }

  private static func remember(
    _ remembered: Wire.FetchOrder.Remembered, of url: String, _ surroundings: Surroundings
  ) {
    do throws(ClientError) {
      _ = try surroundings.call(WorkerInterface.Remember.self) { token in
        WorkerInterface.Remember.Parameters(
          token: token, url: url, etag: remembered.etag, lastModified: remembered.lastModified,
          digest: remembered.digest)
      }
    } catch {
      complain("cannot have refreshd remember what came, so that all of it comes again: \(error)")
    }
  }
}
