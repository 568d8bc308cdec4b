import CSystemd
import Glibc

/// Watches a path for another file or other contents (inotify(7)).
///
/// A symbolic link is watched itself, not its target. Thread-confined, as its loop is.
public final class FileSource {
  private let event: OpaquePointer
  private let path: String
  private let handler: () -> Void
  private var source: OpaquePointer?

  init(_ path: String, on event: OpaquePointer, handler: @escaping () -> Void) throws(SystemdError) {
    self.event = event
    self.path = path
    self.handler = handler
    try watch()
  }

  deinit { sd_event_source_disable_unref(source) }

  /// Watches the file, or its folder until the file exists.
  private func watch() throws(SystemdError) {
    source = sd_event_source_disable_unref(source)
    let changes = IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVE_SELF | IN_DELETE_SELF | IN_DONT_FOLLOW
    var result = add(path, changes)
    if result == -ENOENT, let slash = path.lastIndex(of: "/") {
      result = add(String(path[...slash]), IN_CREATE | IN_MOVED_TO | IN_ONLYDIR)
    }
    try check(result, cannot: "watch \(path)")
  }

  private func add(_ path: String, _ changes: Int32) -> Int32 {
    let callback: sd_event_inotify_handler_t = { _, _, context in
      guard let context else { return 0 }
      let source = Unmanaged<FileSource>.fromOpaque(context).takeUnretainedValue()
      withExtendedLifetime(source) { source.changed() }
      return 0
    }
    return sd_event_add_inotify(
      event, &source, path, UInt32(changes), callback, Unmanaged.passUnretained(self).toOpaque())
  }

  private func changed() {
    // Another file may have the path now. Watch first and read later, so that no change is missed.
    do throws(SystemdError) {
      try watch()
    } catch {
      // The folder is gone too, so no more changes will be reported.
      source = nil
    }
    handler()
  }
}

extension EventLoop {
  /// Calls `handler` when the file at `path` may have changed, appeared or gone, until the returned object is released.
  public func onChange(of path: String, handler: @escaping () -> Void) throws(SystemdError) -> FileSource {
    try FileSource(path, on: event, handler: handler)
  }
}

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
