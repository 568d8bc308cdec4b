import ArgumentParser
import RefreshConfig

/// A word of a wire enum as an argument, written with hyphens: `new-data` for `new_data`.
struct EnumArgument<Value>: ExpressibleByArgument
where Value: RawRepresentable<String> & CaseIterable & Sendable {
  let value: Value

  init?(argument: String) {
    guard let value = Value.allCases.first(where: { $0.hyphenated == argument }) else { return nil }
    self.value = value
  }

  static var allValueStrings: [String] { Value.allCases.map(\.hyphenated) }
}

/// Reads a duration in systemd's format.
@Sendable func readDuration(_ text: String) throws -> Duration {
  do throws(Unreadable) {
    return try Duration(systemd: text)
  } catch {
    throw ValidationError("\(error)")
  }
}

/// Reads an amount of data, such as `1.5MB`.
@Sendable func readByteSize(_ text: String) throws -> Int64 {
  do throws(Unreadable) {
    return try ByteSizes.bytes(text)
  } catch {
    throw ValidationError("\(error)")
  }
}

/// Checks the value of `--hours` here, because the daemon's reply would not name the bounds.
func checkHours(_ hours: Int) throws {
  guard (1...168).contains(hours) else {
    throw ValidationError("cannot look \(hours) hours ahead; give --hours from 1 to 168")
  }
}

/// The URL of an argument; `-` reads it from the first line of standard input, hidden from other users.
func readURL(_ argument: String) throws(Failure) -> String {
  guard argument == "-" else { return argument }
  guard let line = readLine(), !line.isEmpty else {
    throw Failure(
      status: .usage, text: "cannot read a URL from standard input: it is empty; write the URL as its first line")
  }
  return line
}
