import FoundationEssentials
import Glibc
import HTTP
import JSON
import RefreshAPI
import Testing
import Varlink

@testable import refresh_worker

/// A host for one transfer, with a server and a daemon that answer only when the test says so.
final class ScriptedHost: TransferHost {
  let scratch: ScratchFolder
  let loop: ExchangeLoop
  let disk: Disk
  let reports: Reports
  let boot = "this one"
  /// How the transfer ended.
  private(set) var end: Wire.ReportEnd?
  /// The server's port.
  let port: UInt16
  private let server: Int32
  private let daemon: Int32

  init(file text: String) throws {
    scratch = try ScratchFolder()
    try scratch.write(text, to: "file")
    (server, port) = try Self.listenOnLoopback()
    let listener = try Self.listen(at: "\(scratch.path)/socket")
    defer { close(listener) }
    loop = try ExchangeLoop()
    disk = try Disk()
    reports = Reports(client: try Client(path: "\(scratch.path)/socket"), token: "token")
    daemon = accept(listener, nil, nil)
  }

  deinit {
    close(server)
    close(daemon)
  }

  func upload(_ method: String) -> Upload {
    let order = Wire.Assignment(
      direction: .upload, url: "http://127.0.0.1:\(port)/", path: "\(scratch.path)/file", method: method,
      stallMicroseconds: 60_000_000)
    return Upload(id: 1, order, in: self)
  }

  func download(_ resume: Wire.Resume?) -> Download {
    let order = Wire.Assignment(
      direction: .download, url: "http://127.0.0.1:\(port)/", path: "\(scratch.path)/file",
      stallMicroseconds: 60_000_000, resume: resume)
    return Download(id: 1, order, in: self)
  }

  /// Turns the loop until the condition holds, at most `turns` times.
  func go(until isSo: () -> Bool = { false }, turns: Int = 1000) {
    for _ in 0..<turns where !isSo() {
      if loop.turn(watching: [disk.readyDescriptor], timeout: .milliseconds(10)).contains(disk.readyDescriptor) {
        disk.deliverResults()
      }
    }
  }

  /// Answers the next request as the server.
  func answer(_ text: String) throws {
    var set = pollfd(fd: server, events: Int16(POLLIN), revents: 0)
    go(until: { poll(&set, 1, 0) == 1 })
    let connection = accept(server, nil, nil)
    try #require(connection >= 0)
    defer { close(connection) }
    set.fd = connection
    go(until: { poll(&set, 1, 0) == 1 })
    var request = [UInt8](repeating: 0, count: 65536)
    try #require(read(connection, &request, request.count) > 0)
    let bytes = Array(text.utf8)
    try #require(write(connection, bytes, bytes.count) == bytes.count)
  }

  func folder(_ path: String) throws(TaskFailure) -> Folder { try Folder(path: path) }

  func ended(_ transfer: any Transfer, _ report: Wire.TransferReport, onSaved: @escaping () -> Void) {
    end = report.end
    reports.add(report, onSaved: onSaved)
  }

  /// Turns the loop until a report waits, sends the call and returns its reports.
  func nextCall() throws -> [Wire.TransferReport] {
    for _ in 0..<1000 where reports.isEmpty { _ = loop.turn(watching: [], timeout: .milliseconds(10)) }
    try reports.send()
    var message: [UInt8] = []
    while message.last != 0 {
      var set = pollfd(fd: daemon, events: Int16(POLLIN), revents: 0)
      try #require(poll(&set, 1, 15_000) == 1, "no call was made")
      var bytes = [UInt8](repeating: 0, count: 65536)
      let count = read(daemon, &bytes, bytes.count)
      try #require(count > 0)
      message += bytes[..<count]
    }
    let call = try JSONValue(jsonText: Array(message.dropLast()))
    let parameters = try #require(call["parameters"]).jsonBytes()
    return try WorkerInterface.Report.Parameters(jsonText: parameters).reports
  }

  /// Answers the last call as the daemon.
  func answer() throws {
    let text = Array("{\"parameters\":{}}".utf8) + [0]
    try #require(write(daemon, text, text.count) == text.count)
    try reports.receiveAnswer()
  }

  private static func listenOnLoopback() throws -> (Int32, UInt16) {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    let descriptor = try listen(AF_INET, &address)
    var size = socklen_t(MemoryLayout.size(ofValue: address))
    let code = withUnsafeMutableBytes(of: &address) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) { getsockname(descriptor, $0.baseAddress, &size) }
    }
    try #require(code == 0)
    return (descriptor, UInt16(bigEndian: address.sin_port))
  }

  private static func listen(at path: String) throws -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return try listen(AF_UNIX, &address)
  }

  private static func listen<Address>(_ family: Int32, _ address: inout Address) throws -> Int32 {
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
    let size = socklen_t(MemoryLayout<Address>.size)
    let code = withUnsafeBytes(of: &address) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) { bind(descriptor, $0.baseAddress, size) }
    }
    try #require(code == 0 && Glibc.listen(descriptor, 5) == 0)
    return descriptor
  }
}
