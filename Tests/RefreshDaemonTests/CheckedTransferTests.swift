import RefreshAPI
import RefreshEngine
import Testing

@testable import RefreshDaemon

/// The daemon refuses a request that breaks a rule, and completes a request that omits fields.
@Suite struct CheckedTransferTests {
  static let url = "https://anna:secret@Example.org:8443/a?token=1"

  /// A request with a field that cannot be taken.
  struct Refused: CustomTestStringConvertible, Sendable {
    let field: String
    let request: Wire.Request
    var testDescription: String { "\(field): \(request)" }
  }

  static let refused = [
    Refused(field: "url", request: Wire.Request(url: "ftp://example.org/a", path: "/a")),
    Refused(field: "url", request: Wire.Request(url: "https://example.org/a b", path: "/a")),
    Refused(field: "path", request: Wire.Request(url: url, path: "a")),
    Refused(field: "path", request: Wire.Request(url: url, path: "/home/../a")),
    Refused(field: "path", request: Wire.Request(url: url, path: "/home/")),
    Refused(field: "session", request: Wire.Request(url: url, path: "/a", session: "")),
    Refused(field: "session", request: Wire.Request(url: url, path: "/a", session: "two\nlines")),
    Refused(field: "sha256", request: Wire.Request(url: url, path: "/a", sha256: String(repeating: "g", count: 64))),
    Refused(field: "session", request: Wire.Request(url: url, path: "/a", session: "a\u{FFFF}")),
    Refused(field: "session", request: Wire.Request(url: url, path: "/a", session: "a\u{202E}b")),
    Refused(field: "description", request: Wire.Request(url: url, path: "/a", description: "a\u{FFFF}")),
    Refused(field: "sha256", request: Wire.Request(url: url, path: "/a", sha256: "00")),
    Refused(field: "length", request: Wire.Request(url: url, path: "/a", length: -1)),
    Refused(field: "max_rate", request: Wire.Request(url: url, path: "/a", maxRate: 0)),
    Refused(field: "priority", request: Wire.Request(url: url, path: "/a", priority: 101)),
    Refused(field: "method", request: Wire.Request(url: url, path: "/a", method: "POST")),
    Refused(field: "method", request: Wire.Request(url: url, path: "/a", direction: .upload, method: "DELETE")),
    Refused(
      field: "method", request: Wire.Request(url: url, path: "/a", direction: .upload, method: "POST", tus: true)),
    Refused(field: "tus", request: Wire.Request(url: url, path: "/a", tus: true)),
    Refused(field: "credential_file", request: Wire.Request(url: url, path: "/a", credentialFile: "secret")),
    Refused(field: "headers_file", request: Wire.Request(url: url, path: "/a", headersFile: "/etc/../headers")),
    Refused(field: "netrc", request: Wire.Request(url: url, path: "/a", credentialFile: "/secret", netrc: true)),
  ]

  @Test(arguments: refused)
  func whatCannotBeTakenIsRefusedByItsField(_ refused: Refused) {
    let problem = #expect(throws: CheckedTransfer.Refusal.self) { try CheckedTransfer(refused.request) }
    #expect(problem?.field == refused.field)
    #expect(problem?.reason.hasPrefix("cannot ") == true)
    #expect(problem?.remedy.isEmpty == false)
    #expect(problem?.reason.contains("secret@") == false)
  }

  @Test func whatIsLeftOutIsAsAPhoneHasIt() throws {
    let order = try CheckedTransfer(Wire.Request(url: Self.url, path: "/home/anna/a"))
    let app = try #require(AppID("org.example.todo"))
    let now = Instant(microseconds: 7)
    #expect(
      order.policy(of: app, at: now)
        == TransferPolicy(
          session: TransferSession(app: app, name: "default"), host: "example.org:8443", network: .unmetered,
          priority: 0, enqueuedAt: now))
    #expect(order.request == .init(.download, url: Self.url, path: "/home/anna/a"))
  }

  @Test func aDigestIsComparedInLowerCase() throws {
    let digest = String(repeating: "AB", count: 32)
    let order = try CheckedTransfer(Wire.Request(url: Self.url, path: "/a", sha256: digest))
    #expect(order.request.sha256 == digest.lowercased())
  }

  @Test func aURLIsShownWithoutItsSecrets() {
    #expect(ShownURL.of(Self.url) == "https://Example.org:8443/a?…")
  }
}
