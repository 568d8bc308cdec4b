import CSystemd

/// Identifies the machine, with another id for each purpose (machine-id(5), sd_id128_get_machine_app_specific(3)).
public enum MachineID {
  /// Derives the id of this machine for a purpose; it does not reveal machine-id(5).
  ///
  /// `systemd-id128 machine-id --app-specific=USE` prints the same id.
  ///
  /// - Parameter use: the id of the purpose, 32 hexadecimal digits from `journalctl --new-id128`.
  /// - Returns: the id, 32 hexadecimal digits.
  /// - Throws: an error when the machine has no id, or when `use` is malformed.
  public static func id(for use: String) throws(SystemdError) -> String {
    var useID = sd_id128_t()
    try check(sd_id128_from_string(use, &useID), cannot: "read the id \(use)")
    var id = sd_id128_t()
    try check(
      sd_id128_get_machine_app_specific(useID, &id), cannot: "read the machine id",
      remedy: "Run systemd-machine-id-setup.")
    return digits(of: id)
  }

  /// The id of the present boot, as 32 hexadecimal digits (sd_id128_get_boot(3)).
  public static func boot() throws(SystemdError) -> String {
    var id = sd_id128_t()
    try check(sd_id128_get_boot(&id), cannot: "read the boot id", remedy: "Mount /proc.")
    return digits(of: id)
  }

  private static func digits(of id: sd_id128_t) -> String {
    withUnsafeBytes(of: id) { bytes in
      let digits = Array("0123456789abcdef")
      return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
  }
}
