import Glibc
import Systemd

/// Why the daemon is asked to stop, as its service manager knows it.
enum StopOccasion: Hashable, Sendable {
  /// It will stay away.
  case stop
  /// It will start again in a moment.
  case restart
  /// The machine, or the user's session, ends.
  case shutdown
}

extension Launcher {
  func findOccasion(answer: @escaping (StopOccasion) -> Void) { answer(.stop) }
}

/// Asks a service manager why it stops the daemon.
final class StopQuestion {
  private let bus: Bus
  private let answer: (StopOccasion) -> Void
  private var call: BusCall?

  /// Asks; an answer that does not come in time counts as ``StopOccasion/stop``.
  init(_ bus: Bus, answer: @escaping (StopOccasion) -> Void) {
    (self.bus, self.answer) = (bus, answer)
    ask(ServiceManager.get("SystemState")) { [unowned self] state in
      if state?.text == "stopping" { return answer(.shutdown) }
      ask(ServiceManager.call("GetUnitByPID", .uint32(UInt32(getpid())))) { [unowned self] unit in
        guard let path = unit?.text else { return answer(.stop) }
        findJob(of: path)
      }
    }
  }

  private func findJob(of unit: String) {
    ask(.get("Job", of: ServiceManager.unit, at: unit, in: ServiceManager.name)) { [unowned self] job in
      guard let job = job?.elements, job.count == 2, job[0].integer != 0, let path = job[1].text else {
        return answer(.stop)
      }
      ask(.get("JobType", of: "org.freedesktop.systemd1.Job", at: path, in: ServiceManager.name)) {
        [unowned self] type in
        answer(type?.text == "restart" ? .restart : .stop)
      }
    }
  }

  private func ask(_ method: BusMethod, then next: @escaping (BusValue?) -> Void) {
    call = bus.call(method) { result in
      if case .success(let values) = result { next(values.first) } else { next(nil) }
    }
  }
}
