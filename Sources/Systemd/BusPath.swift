import CSystemd
import Glibc

/// Object paths that contain names with characters that paths cannot have.
public enum BusPath {
  /// The path of a named object below `prefix`, in the encoding of sd_bus_path_encode(3) and systemd.
  ///
  /// Nil when `prefix` is no path, or when memory is out.
  public static func encoded(_ name: String, below prefix: String) -> String? {
    var path: UnsafeMutablePointer<CChar>?
    guard sd_bus_path_encode(prefix, name, &path) >= 0, let path else { return nil }
    defer { free(path) }
    return String(cString: path)
  }

  /// The path of the object of an app on the session bus (Desktop Entry Specification, "D-Bus Activation").
  public static func ofApplication(_ name: String) -> String {
    "/" + name.map { $0 == "." ? "/" : $0 == "-" ? "_" : String($0) }.joined()
  }
}
