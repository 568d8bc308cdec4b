import RefreshEngine
import Systemd

/// The power supply, from UPower, else the kernel.
final class PowerTracker: FactTracker {
  private let directory: String
  private let upower: UPower
  private let supplies: FallbackSource<PowerSupplies>

  static func observation(_ reading: Reading<Power>) -> Observation { .power(reading) }

  init(in context: TrackerContext, onChange: @escaping () -> Void) throws(SystemdError) {
    let directory = context.settings.powerSupplies
    self.directory = directory
    let supplies = FallbackSource<PowerSupplies> { () throws(SystemdError) in
      try PowerSupplies(in: directory, on: context.loop, onChange: onChange)
    }
    self.supplies = supplies
    upower = try UPower(on: context.bus) { upower in
      supplies.watch(upower.answer.isMissing)
      onChange()
    }
    supplies.watch(upower.answer.isMissing)
  }

  var sources: [ConditionSource<Power>] {
    [ConditionSource(UPower.name, upower.answer), ConditionSource(directory, supplies.answer)]
  }
}
