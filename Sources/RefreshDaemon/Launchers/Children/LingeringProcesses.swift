import Glibc
import Systemd

/// Processes of a task of a previous daemon that did not end after SIGKILL, because they wait in the kernel.
final class LingeringProcesses {
  private var sources: [pid_t: (descriptor: Int32, source: IOSource)] = [:]

  /// Watches processes by their pidfds, and closes the pidfds.
  ///
  /// Throws when the loop cannot watch them.
  init(_ found: [pid_t: Int32], on loop: EventLoop, whenGone: @escaping () -> Void) throws(SystemdError) {
    for (process, descriptor) in found {
      let source = try loop.watch(descriptor, for: .readable) { [unowned self] _ in
        ended(process)
        if sources.isEmpty { whenGone() }
      }
      sources[process] = (descriptor, source)
    }
  }

  deinit { for process in sources.keys { ended(process) } }

  /// The processes that have not ended.
  var ids: [pid_t] { sources.keys.sorted() }

  private func ended(_ process: pid_t) {
    guard let (descriptor, source) = sources.removeValue(forKey: process) else { return }
    source.cancel()
    close(descriptor)
  }
}
