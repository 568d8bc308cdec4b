import Glibc
import Testing

@testable import HTTP

/// Files with secrets are read only if no other user can read them.
struct PrivateFileTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private func path(_ name: String) -> String { "\(scratch.path)/\(name)" }

  @Test(arguments: ["anna:pass:word\n", "anna:pass:word", "anna:pass:word\r\nmore\n"])
  func aLoginIsTheFirstLine(text: String) throws {
    try scratch.write(text, to: "login")
    guard case .password("anna", "pass:word") = try PrivateFile.login(in: path("login")) else {
      Issue.record("another login was read")
      return
    }
  }

  @Test func headersAreLines() throws {
    try scratch.write("# mine\nX-Key: a: b\r\n\nAccept: */*\n", to: "headers")
    #expect(try PrivateFile.headers(in: path("headers")) == ["X-Key: a: b", "Accept: */*"])
  }

  @Test(arguments: ["no colon", ": empty", "Bad Name: x", "X: a\rY: b", "X\u{00e9}: y"])
  func isNoHeader(line: String) throws {
    try scratch.write("Good: 1\n\(line)\n", to: "headers")
    do throws(ExchangeFailure) {
      _ = try PrivateFile.headers(in: path("headers"))
      Issue.record("\(line) was taken for a header")
    } catch {
      #expect(error.message.contains("line 2"))
      #expect(!error.message.contains(line))
    }
  }

  @Test(arguments: [0o604, 0o640, 0o601, 0o666] as [mode_t])
  func whatOthersMayReadIsRefused(mode: mode_t) throws {
    try scratch.write("anna:geheim\n", to: "login", mode: mode)
    do throws(ExchangeFailure) {
      _ = try PrivateFile.login(in: path("login"))
      Issue.record("mode \(mode) was accepted")
    } catch {
      #expect(error.kind == .permanent)
      #expect(error.message.contains("0600"))
      #expect(!error.message.contains("geheim"))
    }
  }

  @Test func whatIsNoPlainFileIsRefused() throws {
    mkfifo(path("pipe"), 0o600)
    #expect(throws: ExchangeFailure.self) { try PrivateFile.text(of: path("pipe")) }
    #expect(throws: ExchangeFailure.self) { try PrivateFile.text(of: path("missing")) }
    try scratch.write(String(repeating: "x", count: 65_537), to: "large")
    #expect(throws: ExchangeFailure.self) { try PrivateFile.text(of: path("large")) }
  }
}
