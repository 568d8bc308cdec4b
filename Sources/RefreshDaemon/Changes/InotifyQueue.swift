import CLinux
import Glibc

/// An instance of inotify(7): watched directories and their events.
///
/// Walking threads add watches; the event loop does the rest. The last owner closes the instance, so that a hanging thread
/// cannot add a watch to a later instance.
final class InotifyQueue: Sendable {
  /// An event, valid until the next is read.
  struct InotifyEvent {
    /// The watch; -1 when events were lost.
    let watch: Int32
    /// The bits of inotify(7).
    let mask: Int32
    fileprivate let name: UnsafeRawBufferPointer

    func has(_ bits: Int32) -> Bool { mask & bits != 0 }

    /// Whether the event is about the entry with that name.
    func isAbout(_ entry: String) -> Bool { name.prefix { $0 != 0 }.elementsEqual(entry.utf8) }
  }

  /// Events of a folder's contents: entries that are made, written, moved or removed.
  ///
  /// Openings and changes of attributes are left out, because indexing programs cause them all the time.
  static let contents = IN_CREATE | IN_MODIFY | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE
  /// Events of a directory itself, after which another directory may have its path.
  static let itself = IN_MOVE_SELF | IN_DELETE_SELF
  /// Events of an entry that is a symbolic link, or does not exist yet.
  static let entries = IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE

  /// The most bytes of events to read at once: a full queue of the kernel's default size, with names of usual length.
  private static let mostBytes = 1 << 20
  private static let blockBytes = 1 << 16

  let descriptor: Int32

  init() throws(SystemCallError) {
    descriptor = linux_inotify()
    guard descriptor >= 0 else { throw SystemCallError(attempt: "watch folders", code: errno) }
  }

  deinit { close(descriptor) }

  /// Watches an open directory, and keeps the events that it is watched for already.
  ///
  /// - Returns: the number of the watch, always the same for a directory; nil, with `errno`, if that fails.
  func add(_ directory: Int32, for events: Int32) -> Int32? {
    let watch = inotify_add_watch(
      descriptor, "/proc/self/fd/\(directory)", UInt32(events | IN_ONLYDIR | IN_MASK_ADD))
    return watch < 0 ? nil : watch
  }

  func remove(_ watch: Int32) { inotify_rm_watch(descriptor, watch) }

  /// Reads the waiting events.
  func read(_ body: (InotifyEvent) -> Void) {
    let head = MemoryLayout<inotify_event>.size
    withUnsafeTemporaryAllocation(byteCount: Self.blockBytes, alignment: 8) { block in
      var left = Self.mostBytes
      while left > 0 {
        let count = Glibc.read(descriptor, block.baseAddress, block.count)
        guard count > 0 else { return }
        left -= count
        var offset = 0
        while offset + head <= count {
          let event = block.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
          let end = min(count, offset + head + Int(event.len))
          body(
            InotifyEvent(
              watch: event.wd, mask: Int32(bitPattern: event.mask),
              name: UnsafeRawBufferPointer(rebasing: block[(offset + head)..<end])))
          offset = end
        }
      }
    }
  }
}
