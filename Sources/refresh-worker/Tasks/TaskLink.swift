import Glibc
import RefreshAPI
import Varlink

/// A keeper's connection to the daemon, open as long as the daemon lives.
struct TaskLink {
  private let client: Client
  private let token: String

  /// Connects with the token from the environment.
  init() throws(ClientError) {
    func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
    (client, token) = (try Client(path: variable("REFRESH_SOCKET")), variable("REFRESH_TOKEN"))
  }

  /// The socket, which is readable when the daemon has ended.
  var descriptor: Int32 { client.descriptor }

  /// Reports the state of the unit, and returns when the daemon has saved it.
  func keep(isKept: Bool, _ text: String) throws(ClientError) {
    _ = try client.call(WorkerInterface.Keep.self, .init(token: token, isKept: isKept, text: text))
  }
}
