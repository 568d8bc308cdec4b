import RefreshEngine
import Systemd

/// The USB devices that are plugged in, from the kernel (Documentation/ABI/stable/sysfs-bus-usb).
///
/// Reads the files at the start and after each event of udev(7); nothing is polled.
final class USBDevices: NamedFactSource {
  /// How long events are gathered before the devices are read again, in microseconds: a hub brings many at once.
  private static let pause: Int64 = 200_000

  let name: String
  private let onChange: () -> Void
  private(set) var problem: String?

  private var devices: Set<String> = []
  private var monitor: DeviceMonitor?
  private var timer: TimerSource?
  private var isPausing = false

  /// Reads the devices and starts to watch them; calls `onChange` after every event.
  init(in directory: String, on loop: EventLoop, onChange: @escaping () -> Void) throws(SystemdError) {
    (name, self.onChange) = (directory, onChange)
    timer = try loop.timer { [unowned self] in look() }
    monitor = try loop.onDevice(of: "usb") { [unowned self] in changed() }
    read()
  }

  deinit { timer?.cancel() }

  func state(of name: String) -> FactState? {
    devices.contains(name)
      ? FactState(isMet: true, text: "plugged in") : FactState(isMet: false, text: "no such device")
  }

  private func changed() {
    guard !isPausing else { return }
    isPausing = true
    timer?.arm(at: EventLoop.bootMicroseconds() + Self.pause, accuracy: 1000)
  }

  private func look() {
    isPausing = false
    read()
    onChange()
  }

  private func read() {
    devices = []
    for device in SmallFiles.names(in: name) {
      func text(_ attribute: String) -> String? { SmallFiles.text(of: "\(name)/\(device)/\(attribute)") }
      // The directory of an interface has neither file.
      guard let vendor = text("idVendor"), let product = text("idProduct") else { continue }
      devices.insert("usb:\(vendor):\(product)".lowercased())
    }
  }
}
