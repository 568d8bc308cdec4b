import Glibc
import RefreshAPI
import RefreshEngine

/// The identity of this machine and this boot.
enum Machine {
  /// The id of the boot, which the kernel makes at each boot (`/proc/sys/kernel/random/boot_id`).
  static func bootID() throws(ServiceError) -> String {
    guard let text = SmallFiles.text(of: "/proc/sys/kernel/random/boot_id") else {
      throw ServiceError(
        .software, "cannot read /proc/sys/kernel/random/boot_id; refreshd needs /proc to tell one boot from another")
    }
    return text
  }

  /// A hash of the machine's id (machine-id(5)), for ``Spread``; of the host's name if there is no id.
  static func spread() -> Spread {
    let name = SmallFiles.text(of: "/etc/machine-id") ?? SmallFiles.text(of: "/proc/sys/kernel/hostname") ?? ""
    return Spread(machine: name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })
  }

  /// How many processors are online, and by default how many refreshes may run at once.
  static var processors: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
