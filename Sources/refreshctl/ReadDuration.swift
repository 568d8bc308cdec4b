import ArgumentParser
import RefreshConfig

/// Reads a duration as systemd writes it, for an option of the command line.
@Sendable func readDuration(_ text: String) throws -> Duration {
  do throws(Unreadable) {
    return try Duration(systemd: text)
  } catch {
    throw ValidationError("\(error)")
  }
}
