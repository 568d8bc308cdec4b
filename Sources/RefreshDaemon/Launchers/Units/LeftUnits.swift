import Glibc
import Systemd

/// The units that a previous daemon left; listed and ended with blocking calls during the daemon's start.
struct LeftUnits {
  /// How long the daemon's start waits for their ends, in seconds.
  private static let cleanBound: Int64 = 5

  let setup: SystemdLauncher.Setup

  /// The names of the units; nil if the service manager does not answer in time.
  func names() -> [String]? {
    guard let session = session() else { return nil }
    do throws(BusError) {
      return ListedUnit.list(in: try session.call(ServiceManager.listTasks)).map(\.name)
        .filter { setup.units.key(ofUnit: $0) != nil }
    } catch {
      return nil
    }
  }

  /// Ends all units and removes their files, for a daemon that starts its tasks itself.
  ///
  /// Does nothing if no daemon has left files. If the service manager does not answer, the next start tries again.
  func endAll() {
    guard access(setup.files, F_OK) == 0, let names = names() else { return }
    end(names)
    removeFiles(but: [])
    rmdir(setup.files)
  }

  /// Removes the files of all tasks except these paths.
  func removeFiles(but kept: Set<String>) {
    for path in SmallFiles.names(in: setup.files).map({ "\(setup.files)/\($0)" }) where !kept.contains(path) {
      unlink(path)
    }
  }

  /// Ends and resets units, and waits until none of their processes is left.
  func end(_ units: [String]) {
    guard !units.isEmpty, let session = session() else { return }
    let send = { (method: BusMethod) in
      // Errors are expected: a unit may have no process to kill, or may not have failed.
      do throws(BusError) { _ = try session.call(method) } catch { return }
    }
    let bound = WaitBound(Self.cleanBound)
    for unit in units { ServiceManager.end(unit).forEach(send) }
    for unit in units {
      wait(forEndOf: unit, until: bound)
      // The unit has failed only now, because it was killed.
      send(ServiceManager.resetFailed(unit))
    }
  }

  /// Waits until no process of a unit is left, whatever the app of its slice.
  private func wait(forEndOf unit: String, until bound: WaitBound) {
    let slices = "\(setup.cgroup)/refreshd.slice"
    for slice in SmallFiles.names(in: slices) {
      Cgroup.wait(forEndOf: "\(slices)/\(slice)/\(unit)", until: bound)
    }
  }

  private func session() -> BusSession? {
    do throws(SystemdError) { return try BusSession(setup.bus) } catch { return nil }
  }
}
