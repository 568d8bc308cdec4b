import CSystemd

/// What tells this machine from others, for one use of it (machine-id(5), sd_id128_get_machine_app_specific(3)).
public enum MachineID {
  /// An id of this machine as 32 hexadecimal digits; another use has another one, and none leads back to machine-id(5).
  ///
  /// It is what `systemd-id128 machine-id --app-specific=USE` prints. Throws when the machine has no id.
  ///
  /// - Parameter use: the use's own id, 32 hexadecimal digits, of `journalctl --new-id128`.
  public static func id(for use: String) throws(SystemdError) -> String {
    var useID = sd_id128_t()
    try check(sd_id128_from_string(use, &useID), cannot: "read the id \(use)")
    var id = sd_id128_t()
    try check(
      sd_id128_get_machine_app_specific(useID, &id), cannot: "tell which machine this is",
      remedy: "Run systemd-machine-id-setup.")
    return withUnsafeBytes(of: id) { bytes in
      let digits = Array("0123456789abcdef")
      return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
  }
}
