import Testing

@testable import refresh_worker

/// How URLs are read and compared.
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
}
