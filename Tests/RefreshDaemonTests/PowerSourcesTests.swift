import RefreshEngine
import Systemd
import Testing

@testable import RefreshDaemon

@Suite struct PowerTests {
  @Test(
    arguments: [
      ([], Power()),
      ([.mains(isOnline: true)], Power()),
      ([.battery(isDischarging: true, percent: 41)], Power(onBattery: true, percent: 41)),
      ([.battery(isDischarging: false, percent: 100)], Power(percent: 100)),
      ([.mains(isOnline: false), .battery(isDischarging: true, percent: 41)], Power(onBattery: true, percent: 41)),
      // The battery discharges although a charger is plugged in: a weak charger still counts as mains.
      ([.mains(isOnline: true), .battery(isDischarging: true, percent: 41)], Power(percent: 41)),
      (
        [.battery(isDischarging: false, percent: 100), .battery(isDischarging: true, percent: 50)],
        Power(onBattery: true, percent: 75)
      ),
      ([.battery(isDischarging: true, percent: nil)], Power(onBattery: true)),
    ] as [([PowerSupplies.Supply], Power)])
  func onBatteryMeansDischargingAndNoMains(supplies: [PowerSupplies.Supply], power: Power) {
    guard case .known(let known, _) = PowerSupplies.answer(of: supplies) else {
      Issue.record("it is known")
      return
    }
    #expect(known == power)
  }

  @Test func theKernelsFilesAreReadWithoutBatteriesOfMice() throws {
    let folder = try SupplyFolder()
    try folder.add("AC", ["type": "Mains", "online": "0"])
    try folder.add("BAT0", ["type": "Battery", "status": "Discharging", "capacity": "41", "present": "1"])
    try folder.add("BAT1", ["type": "Battery", "status": "Unknown", "capacity": "0", "present": "0"])
    try folder.add("hidpp_battery_0", ["type": "Battery", "scope": "Device", "status": "Discharging", "capacity": "5"])
    #expect(PowerSupplies.read(folder.path) == .known(Power(onBattery: true, percent: 41)))
    try folder.add("ucsi-source-psy-1", ["type": "USB", "online": "1"])
    #expect(PowerSupplies.read(folder.path) == .known(Power(percent: 41)))
  }

  @Test func aKernelWithoutSuppliesMeansMains() {
    #expect(PowerSupplies.read("/nonexistent/power_supply") == .known(Power(), without: "no battery"))
  }

  @Test(
    arguments: [
      (["IsPresent": .boolean(true), "Percentage": .double(63.9)], 63),
      (["IsPresent": .boolean(true), "Percentage": .double(104)], 100),
      (["IsPresent": .boolean(false), "Percentage": .double(0)], nil),
      ([:], nil),
    ] as [([String: BusValue], Int?)])
  func aDisplayDeviceThatIsNotPresentHasNoCharge(battery: [String: BusValue], percent: Int?) {
    #expect(UPower.power(onBattery: true, battery: battery) == Power(onBattery: true, percent: percent))
  }
}
