import Glibc
import Systemd

/// The units of tasks that a daemon before this one left, at a daemon's start: asked for and ended without the loop.
struct LeftUnits {
  /// How long the daemon's start waits for their end, in seconds.
  private static let cleanBound: Int64 = 5

  let place: SystemdLauncher.Place

  /// Their names; nil when the service manager does not answer in time.
  func names() -> [String]? {
    guard let session = session() else { return nil }
    do throws(BusError) {
      return ListedUnit.list(in: try session.call(ServiceManager.listTasks)).map(\.name)
        .filter { place.units.key(ofUnit: $0) != nil }
    } catch {
      return nil
    }
  }

  /// Ends all of them and removes what was kept for them, for a daemon that starts its tasks itself.
  ///
  /// Where no daemon has kept anything, nobody is asked; where nobody answers, it is for the next start.
  func endAll() {
    guard access(place.files, F_OK) == 0, let names = names() else { return }
    end(names)
    removeFiles(but: [])
    rmdir(place.files)
  }

  /// Removes the files of tasks but these, by their paths.
  func removeFiles(but kept: Set<String>) {
    for path in Processes.names(in: place.files).map({ "\(place.files)/\($0)" }) where !kept.contains(path) {
      unlink(path)
    }
  }

  /// Ends units, has them forgotten, and waits until no process of them is left.
  func end(_ units: [String]) {
    guard !units.isEmpty, let session = session() else { return }
    let send = { (method: BusMethod) in
      // A unit without a process has nobody to be killed, and one that has not failed cannot be reset.
      do throws(BusError) { _ = try session.call(method) } catch { return }
    }
    let bound = WaitBound(Self.cleanBound)
    for unit in units { ServiceManager.end(unit).forEach(send) }
    for unit in units {
      wait(forEndOf: unit, until: bound)
      // One that has failed only now, because it was killed.
      send(ServiceManager.resetFailed(unit))
    }
  }

  /// Waits until no process of a unit is left, whose app is not known any more.
  private func wait(forEndOf unit: String, until bound: WaitBound) {
    let slices = "\(place.cgroup)/refreshd.slice"
    for slice in Processes.names(in: slices) {
      let events = open("\(slices)/\(slice)/\(unit)/cgroup.events", O_RDONLY | O_CLOEXEC)
      guard events >= 0 else { continue }
      while Cgroup.isPopulated(events), bound.wait(for: Int16(POLLPRI), on: events) {}
      close(events)
    }
  }

  private func session() -> BusSession? {
    do throws(SystemdError) { return try BusSession(place.bus) } catch { return nil }
  }
}
