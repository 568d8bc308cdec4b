import Testing

@testable import HTTP

/// Parses, resolves and compares URLs.
struct WebAddressTests {
  @Test(arguments: [
    ("http://Example.ORG/a", "http", "example.org"), ("https://h:443/", "https", "h"),
    ("https://h:8443/", "https", "h:8443"),
    ("http://anna:secret@h:80/x?token=1", "http", "h"), ("http://[::1]:8080/", "http", "[::1]:8080"),
  ])
  func hostIsWithoutUserAndStandardPort(url: String, scheme: String, host: String) throws {
    let address = try #require(WebAddress(url))
    #expect(address.scheme == scheme)
    #expect(address.host == host)
  }

  @Test(arguments: ["ftp://h/x", "file:///etc/passwd", "h/x", "", "http://", "http://h:99999/"])
  func isNone(url: String) {
    #expect(WebAddress(url) == nil)
  }

  @Test(arguments: [
    ("/files/1", "http://h:1080/files/1"), ("2", "http://h:1080/files/2"), ("http://other/3", "http://other/3"),
    ("/a b", "http://h:1080/a%20b"), ("/a%20b?c=d%26e", "http://h:1080/a%20b?c=d%26e"),
  ])
  func referencesAreRelativeToIt(reference: String, whole: String) throws {
    #expect(try #require(WebAddress("http://h:1080/files/new")).resolving(reference)?.text == whole)
  }

  @Test func anOriginIsSchemeHostAndPort() throws {
    let one = try #require(WebAddress("https://h/a"))
    #expect(one.hasOrigin(of: try #require(WebAddress("https://H:443/b"))))
    #expect(!one.hasOrigin(of: try #require(WebAddress("http://h/a"))))
    #expect(!one.hasOrigin(of: try #require(WebAddress("https://h:8443/a"))))
  }

  @Test func aLoginIsForTheFirstOriginOnly() throws {
    var redirects = Redirects(from: try #require(WebAddress("http://anna:p%40ss@h/a")))
    try redirects.follow("http://h/b")
    guard case .password("anna", "p@ss") = redirects.login else {
      Issue.record("\(redirects.login) logs nobody in")
      return
    }
    try redirects.follow("http://other/c")
    #expect(!redirects.isAtFirstOrigin)
    guard case .none = redirects.login else {
      Issue.record("another host hears who asks")
      return
    }
  }

  @Test(arguments: ["http://h/b", "ftp://h/b", "https://"])
  func nobodyIsLedOutOfHTTPS(location: String) throws {
    var redirects = Redirects(from: try #require(WebAddress("https://h/a")))
    #expect(throws: ExchangeFailure.self) { try redirects.follow(location) }
  }
}
