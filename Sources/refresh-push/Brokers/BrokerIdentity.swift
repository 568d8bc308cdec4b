import Glibc
import Systemd

/// The identity of the bridge at a broker.
enum BrokerIdentity {
  /// The application id from which brokers' machine ids derive (see `systemd-id128 machine-id --app-specific=...`).
  private static let use = "664f30f6843842368c6bd98e13dd28ba"

  /// The machine's id in topics: 32 hexadecimal digits that do not reveal its machine-id(5).
  ///
  /// Throws if the machine has no id.
  static func machine() throws(BrokerEnd) -> String {
    do throws(SystemdError) { return try MachineID.id(for: use) } catch { throw .unreachable(error.description) }
  }

  /// The beginning of the id of the present boot.
  static func boot() throws(BrokerEnd) -> String {
    do throws(SystemdError) {
      return String(try MachineID.boot().prefix(8))
    } catch {
      throw .unreachable(error.description)
    }
  }

  /// The default client id: a stable id for each machine, user and source, so that the broker finds the session.
  static func clientID(of source: String) throws(BrokerEnd) -> String {
    guard let digits = Digest.digits(16, of: "\(try machine()) \(geteuid()) \(source)".utf8) else {
      throw .unreachable("cannot connect: there is no memory")
    }
    return "refreshd-\(digits)"
  }
}
