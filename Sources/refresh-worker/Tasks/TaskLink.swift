import Glibc
import RefreshAPI
import Varlink

/// The connection of a keeper to the daemon, which is open for as long as the daemon lives.
struct TaskLink {
  private let client: Client
  private let token: String

  /// Connects with the token of the environment.
  init() throws(ClientError) {
    func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
    (client, token) = (try Client(path: variable("REFRESH_SOCKET")), variable("REFRESH_TOKEN"))
  }

  /// The socket, which is readable when the daemon is gone.
  var descriptor: Int32 { client.descriptor }

  /// Tells the state of the unit, and returns when the daemon has saved it.
  func keep(isKept: Bool, _ text: String) throws(ClientError) {
    _ = try client.call(WorkerInterface.Keep.self, .init(token: token, isKept: isKept, text: text))
  }
}
