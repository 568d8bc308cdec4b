import CLinux
import Glibc
import RefreshAPI
import Varlink

/// The built-in task `http`: reads its order, fetches, and tells the daemon how it went.
enum FetchTask {
  /// The most bytes that an order may have, which the bounds on URLs and paths leave room for.
  private static let longestOrder = 256 << 10

  /// Does all of it, and gives the exit code.
  static func run() -> Int32 {
    if let trouble = Confinement.enter() { return end(FetchResult(trouble)) }
    let terminated = linux_signal_descriptor(SIGTERM)
    let order: Wire.FetchOrder
    do {
      order = try Wire.FetchOrder(jsonText: StandardInput.bytes(most: longestOrder))
    } catch {
      complain("cannot read what to fetch from standard input; refresh-worker http is started by refreshd")
      return EX_USAGE
    }
    do throws(Trouble) {
      guard let result = try Fetching(order).run(until: terminated) else { return EX_TEMPFAIL }
      if let remembered = result.remembered { remember(remembered, of: order.url) }
      return end(result)
    } catch {
      return end(FetchResult(error))
    }
  }

  /// Says it to the daemon; on standard error, and as ever by the exit code, where nobody hears it.
  private static func end(_ result: FetchResult) -> Int32 {
    guard let (socket, token) = daemon else {
      complain(result.message)
      return result.exitCode
    }
    do throws(ClientError) {
      _ = try Client(path: socket).call(
        AppInterface.Complete.name,
        AppInterface.Complete.Parameters(
          token: token, outcome: result.outcome, message: result.message,
          retryAfterMicroseconds: result.retryAfter?.microseconds, temporary: result.isTemporary ? true : nil,
          freshForMicroseconds: result.freshFor?.microseconds),
        as: AppInterface.Complete.Reply.self)
    } catch {
      complain("\(result.message) (cannot tell refreshd: \(error))")
    }
    return result.exitCode
  }

  private static func remember(_ remembered: Wire.FetchOrder.Remembered, of url: String) {
    guard let (socket, token) = daemon else { return }
    do throws(ClientError) {
      _ = try Client(path: socket).call(
        WorkerInterface.Remember.name,
        WorkerInterface.Remember.Parameters(
          token: token, url: url, etag: remembered.etag, lastModified: remembered.lastModified,
          digest: remembered.digest), as: WorkerInterface.Remember.Reply.self)
    } catch {
      complain("cannot have refreshd remember what came, so that all of it comes again: \(error)")
    }
  }

  /// Where the daemon listens, and what it knows this process by; nil where no daemon started it.
  private static var daemon: (socket: String, token: String)? {
    guard let socket = getenv("REFRESH_SOCKET"), let token = getenv("REFRESH_TOKEN") else { return nil }
    return (String(cString: socket), String(cString: token))
  }
}
