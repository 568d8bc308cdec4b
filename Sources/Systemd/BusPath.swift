import CSystemd
import Glibc

/// Paths of objects on the bus that are made of names with letters which paths cannot have.
public enum BusPath {
  /// The path of the object of that name below another one, as sd_bus_path_encode(3) and systemd write it.
  ///
  /// Nil when `prefix` is no path, or memory is out.
  public static func encoded(_ name: String, below prefix: String) -> String? {
    var path: UnsafeMutablePointer<CChar>?
    guard sd_bus_path_encode(prefix, name, &path) >= 0, let path else { return nil }
    defer { free(path) }
    return String(cString: path)
  }
}
