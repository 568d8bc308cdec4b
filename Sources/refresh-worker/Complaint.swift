import Glibc

/// Writes a line to standard error, which is the journal of the app.
func complain(_ line: String) {
  var text = line + "\n"
  text.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
}
