import RefreshEngine
import Systemd

/// The power supply, from UPower, else the kernel (FEATURES D2).
final class PowerTracker: FactTracker {
  /// Called after every change of what a source says.
  var onChange: () -> Void = {}

  private let loop: EventLoop
  private let directory: String
  private let upower: UPower
  private var supplies: PowerSupplies?
  private var suppliesProblem = ""

  init(on bus: Bus, loop: EventLoop, directory: String) throws(SystemdError) {
    self.loop = loop
    self.directory = directory
    upower = try UPower(on: bus)
    upower.onChange = { [unowned self] in
      watchSuppliesIfNeeded()
      onChange()
    }
    watchSuppliesIfNeeded()
  }

  /// Who is asked, best first, and what each says.
  var witnesses: [Witness<Power>] {
    [
      Witness(UPower.name, upower.testimony),
      Witness(directory, supplies?.testimony ?? (isKernelOfNoInterest ? .awaited : .silent(suppliesProblem))),
    ]
  }

  /// Whether UPower knows, or may still say so.
  private var isKernelOfNoInterest: Bool {
    switch upower.testimony {
    case .known, .awaited: true
    case .absent, .silent: false
    }
  }

  private func watchSuppliesIfNeeded() {
    guard !isKernelOfNoInterest else {
      supplies = nil
      return
    }
    guard supplies == nil else { return }
    do throws(SystemdError) {
      supplies = try PowerSupplies(in: directory, on: loop)
      supplies?.onChange = { [unowned self] in onChange() }
    } catch {
      suppliesProblem = error.description
    }
  }
}
