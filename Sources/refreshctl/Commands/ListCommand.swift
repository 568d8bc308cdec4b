import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the apps: phase, next refresh, last outcome, age of the data.",
    aliases: ["apps"])

  @OptionGroup var connection: ConnectionOptions

  @Flag(help: "List what is open on your desktop now, with the id of each for `desktop` in an app's file.")
  var desktop = false

  func validate() throws {
    if desktop, connection.json {
      throw ValidationError("cannot print what is open on the desktop as JSON; leave out --json or --desktop")
    }
  }

  func run() throws {
    guard desktop else { return try connection.ask(ManagerInterface.List.self, .init()) { $0.text($1) } }
    throw listDesktop()
  }

  /// Replaces this process by `refresh-session --list`, of the same installation if possible; returns why it could not.
  private func listDesktop() -> Failure {
    let program = "refresh-session"
    var own = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let length = own.withUnsafeMutableBytes { bytes in
      bytes.withMemoryRebound(to: CChar.self) { text in
        text.baseAddress.map { readlink("/proc/self/exe", $0, text.count) } ?? 0
      }
    }
    own.removeLast(own.count - max(0, length))
    let folder = String(decoding: own, as: UTF8.self).split(separator: "/").dropLast().joined(separator: "/")
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup("--list"), nil]
    defer { for argument in arguments { free(argument) } }
    execv("/\(folder)/\(program)", &arguments)
    execvp(program, &arguments)
    return Failure(
      status: .notFound,
      text: "cannot start \(program): \(errorText(errno)); install the package \(program)")
  }
}
