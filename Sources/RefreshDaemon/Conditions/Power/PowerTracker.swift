import RefreshEngine
import Systemd

/// The power supply, from UPower, else the kernel.
final class PowerTracker: FactTracker {
  var onChange: () -> Void = {}

  private let directory: String
  private let upower: UPower
  private let supplies: FallbackSource<PowerSupplies>

  static func observation(_ reading: Reading<Power>) -> Observation { .power(reading) }

  init(in context: TrackerContext) throws(SystemdError) {
    let directory = context.settings.powerSupplies
    self.directory = directory
    upower = try UPower(on: context.bus)
    supplies = FallbackSource { () throws(SystemdError) in try PowerSupplies(in: directory, on: context.loop) }
    upower.onChange = { [unowned self] in
      supplies.watch(upower.answer.isMissing)
      onChange()
    }
    supplies.onChange = { [unowned self] in onChange() }
    supplies.watch(upower.answer.isMissing)
  }

  var sources: [ConditionSource<Power>] {
    [ConditionSource(UPower.name, upower.answer), ConditionSource(directory, supplies.answer)]
  }
}
