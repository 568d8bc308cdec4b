import CSystemd
import Glibc

/// Watches the udev(7) events of a subsystem's devices (sd-device(3)).
///
/// The kernel filters out other subsystems, so they do not wake the process. Without udev, as in a container, there are
/// no events. Thread-confined, as its loop is.
public final class DeviceMonitor {
  private var monitor: OpaquePointer?
  private let handler: () -> Void

  init(of subsystem: String, on event: OpaquePointer, handler: @escaping () -> Void) throws(SystemdError) {
    self.handler = handler
    let action = "watch devices of \(subsystem)"
    try check(sd_device_monitor_new(&monitor), cannot: action)
    let filter = sd_device_monitor_filter_add_match_subsystem_devtype(monitor, subsystem, nil)
    try check(filter, cannot: action)
    try check(sd_device_monitor_attach_event(monitor, event), cannot: action)
    let callback: sd_device_monitor_handler_t = { _, _, context in
      guard let context else { return 0 }
      let monitor = Unmanaged<DeviceMonitor>.fromOpaque(context).takeUnretainedValue()
      withExtendedLifetime(monitor) { monitor.handler() }
      return 0
    }
    try check(
      sd_device_monitor_start(monitor, callback, Unmanaged.passUnretained(self).toOpaque()), cannot: action)
  }

  deinit { sd_device_monitor_unref(monitor) }
}

extension EventLoop {
  /// Calls `handler` for every event of a device of `subsystem`, until the returned object is released.
  public func onDevice(of subsystem: String, handler: @escaping () -> Void) throws(SystemdError) -> DeviceMonitor {
    try DeviceMonitor(of: subsystem, on: event, handler: handler)
  }
}
