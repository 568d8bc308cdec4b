import Glibc
import Testing

/// A directory in place of /sys/class/power_supply.
final class SupplyFolder {
  let path: String
  private var made: [String] = []

  init() throws {
    var template = Array("/tmp/supplies-XXXXXX".utf8CString)
    path = String(cString: try #require(mkdtemp(&template)))
  }

  deinit {
    for entry in made.reversed() { remove(entry) }
    rmdir(path)
  }

  /// Adds a supply with these attributes.
  func add(_ name: String, _ attributes: [String: String]) throws {
    let folder = "\(path)/\(name)"
    try #require(mkdir(folder, 0o700) == 0)
    made.append(folder)
    for (attribute, value) in attributes {
      let file = try #require(fopen("\(folder)/\(attribute)", "w"))
      fputs("\(value)\n", file)
      fclose(file)
      made.append("\(folder)/\(attribute)")
    }
  }
}
