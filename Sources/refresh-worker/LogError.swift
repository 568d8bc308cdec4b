import Glibc

/// Writes a line to standard error, which systemd connects to the app's journal.
func logError(_ line: String) {
  var text = line + "\n"
  text.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
}
