import Glibc
import Systemd

/// Who the bridge is for a broker.
enum BrokerIdentity {
  /// The use under which the machine's id goes to brokers (`systemd-id128 machine-id --app-specific=...` prints it).
  private static let use = "664f30f6843842368c6bd98e13dd28ba"

  /// What stands for the machine in topics: 32 hexadecimal digits that do not lead back to its machine-id(5).
  ///
  /// Throws when the machine has no id.
  static func machine() throws(BrokerEnd) -> String {
    do throws(SystemdError) { return try MachineID.id(for: use) } catch { throw .unreachable(error.description) }
  }

  /// The id of the client where push.toml names none: another one for every machine, user and source, and always the
  /// same for these, so that the broker finds the session again.
  static func clientID(of source: String) throws(BrokerEnd) -> String {
    guard let digits = Digest.digits(16, of: "\(try machine()) \(geteuid()) \(source)".utf8) else {
      throw .unreachable("cannot connect: there is no memory")
    }
    return "refreshd-\(digits)"
  }
}
