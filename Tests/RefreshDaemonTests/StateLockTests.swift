import Foundation
import Glibc
import Testing

@testable import RefreshDaemon

/// The lock that keeps two daemons from one state directory.
@Suite("The lock of a state directory") struct StateLockTests {
  @Test("is a record lock, which no child inherits and no other process can get")
  func isARecordLock() throws {
    let directory = try ScratchDirectory()
    try StateLock.hold(in: directory.path)
    let script = """
      import errno, fcntl, os, sys
      lock = os.open(sys.argv[1], os.O_RDWR)
      try:
          fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
      except OSError as error:
          sys.exit(0 if error.errno in (errno.EAGAIN, errno.EACCES) else 2)
      sys.exit(1)
      """
    let other = try Process.run(
      URL(filePath: "/usr/bin/python3"), arguments: ["-c", script, "\(directory.path)/lock"])
    other.waitUntilExit()
    #expect(other.terminationStatus == 0)
  }
}
