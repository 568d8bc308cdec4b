import JSON
import Testing

/// RFC 8259 and nothing else.
struct ReaderTests {
  static let right = [
    ("null", "null"), (" true ", "true"), ("\t[\n]\r", "[]"), ("{ }", "{}"), ("-0", "-0"), ("0", "0"),
    ("1.5e-3", "1.5e-3"), ("1E+9999", "1E+9999"), (#""""#, #""""#), (#""\u00e4\ud83d\ude00""#, #""ä😀""#),
    (#""\"\\\/\b\f\n\r\t\u0000""#, #""\"\\/\b\f\n\r\t\u0000""#),
    (#"[1, [2, {"a" : [] }], "x"]"#, #"[1,[2,{"a":[]}],"x"]"#),
    (#"{"b":1,"a":2,"b":3}"#, #"{"b":1,"a":2,"b":3}"#), ("\"\u{7f}\u{2028}\"", "\"\u{7f}\u{2028}\""),
  ]

  @Test(arguments: right)
  func aTextIsReadAndWritten(text: String, again: String) throws {
    #expect(try JSONValue(jsonText: Array(text.utf8)).jsonText(.line) == again)
  }

  static let wrong = [
    "", " ", "nul", "nulll", "True", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{", "{\"a\"", "{\"a\":",
    "{\"a\":1",
    "{\"a\":1,}", "{a:1}", "{1:1}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "01", "-", "-a", "1.", ".5", "1e", "1e+", "+1",
    "0x1",
    "1 2", "\"", "\"a", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\ud800\\u0061\"",
    "\"\\udc00\"", "\"\u{1}\"", "\"\n\"", "'a'", "NaN", "Infinity", "//x\n1", "\u{feff}1", "[1]]", "[}", "{]",
  ]

  @Test(arguments: wrong)
  func anyOtherTextIsRefused(text: String) {
    #expect(throws: JSONError.self) { try JSONValue(jsonText: Array(text.utf8)) }
    // Also where nobody looks.
    #expect(throws: JSONError.self) { try [Int](jsonText: Array("[1,\(text)]".utf8)) }
    #expect(throws: JSONError.self) { try Skipped(jsonText: Array("{\"other\":\(text)}".utf8)) }
  }

  @Test(arguments: [[0xFF], [0xE2, 0x82], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]] as [[UInt8]])
  func onlyUTF8IsRead(bytes: [UInt8]) {
    #expect(throws: JSONError.self) { try String(jsonText: [0x22] + bytes + [0x22]) }
    #expect(throws: JSONError.self) { try Skipped(jsonText: Array("{\"other\":\"".utf8) + bytes + Array("\"}".utf8)) }
    #expect(throws: JSONError.self) { try JSONValue(jsonText: bytes) }
  }

  @Test(arguments: [127, 128, 129, 512, 513, 100_000])
  func theDepthIsBounded(levels: Int) {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
      for text in [String(repeating: open, count: levels) + "1" + String(repeating: close, count: levels)] {
        let value = Result { try JSONValue(jsonText: Array(text.utf8)) }
        let skipped = Result { try Skipped(jsonText: Array("{\"x\":\(text)}".utf8)) }
        #expect(((try? value.get()) != nil) == (levels <= JSONReader.mostLevels))
        #expect(((try? skipped.get()) != nil) == (levels < JSONReader.mostLevels))
      }
      #expect(throws: JSONError.self) { try JSONValue(jsonText: Array(String(repeating: open, count: levels).utf8)) }
    }
  }

  @Test(arguments: [
    ("0", 0), ("-1", -1), ("9223372036854775807", Int64.max), ("-9223372036854775808", .min), ("2e3", 2000), ("5.0", 5),
    ("-0", 0),
  ])
  func aWholeNumberIsExact(text: String, number: Int64) throws {
    #expect(try Int64(jsonText: Array(text.utf8)) == number)
  }

  @Test(arguments: [
    "9223372036854775808", "-9223372036854775809", "1e19", "2.5", "1e999", "\"1\"", "null", "[]",
    "1" + String(repeating: "0", count: 10_000),
  ])
  func aNumberThatDoesNotFitIsRefused(text: String) {
    #expect(throws: JSONError.self) { try Int64(jsonText: Array(text.utf8)) }
  }

  @Test func numbersOfAnyLengthAreSkipped() throws {
    let long = String(repeating: "9", count: 100_000)
    _ = try Skipped(jsonText: Array("{\"x\":\(long),\"y\":1e\(long),\"z\":0.\(long)}".utf8))
    #expect(throws: JSONError.self) { try Double(jsonText: Array(long.utf8)) }
  }

  @Test func aKnownMemberComesOnce() {
    #expect(throws: JSONError.self) { try Skipped(jsonText: Array(#"{"known":1,"known":1}"#.utf8)) }
    #expect(throws: JSONError.self) { try Skipped(jsonText: Array(#"{"known":1,"kno\u0077n":1}"#.utf8)) }
    #expect(throws: JSONError.self) { try [String: Int](jsonText: Array(#"{"a":1,"\u0061":1}"#.utf8)) }
  }

  @Test(arguments: [
    (#"[[1,2],[3,"a"]]"#, "[1][1]"), (#"[[1],{}]"#, "[1]"), (#"[[1,[]]]"#, "[0][1]"), ("5", ""),
    ("[[1,2.5]]", "[0][1]"),
  ])
  func anErrorNamesTheWay(text: String, path: String) {
    let bytes = Array(text.utf8)
    let error = #expect(throws: JSONError.self) { try [[Int]](jsonText: bytes) }
    #expect(bytes.withUnsafeBytes { error?.path(in: $0) } == path)
  }

  @Test func theWayPastManyValuesUnderALongNameIsFoundInOnePass() {
    let name = String(repeating: "k", count: 500_000)
    let ones = String(repeating: "1,", count: 200_000)
    let bytes = Array(#"{"\#(name)":[\#(ones)1],"known":"a"}"#.utf8)
    let error = #expect(throws: JSONError.self) { try Skipped(jsonText: bytes) }
    var path: String?
    let took = ContinuousClock().measure { path = bytes.withUnsafeBytes { error?.path(in: $0) } }
    #expect(path == "known")
    // A pass for each value would take minutes.
    #expect(took < .seconds(20))
  }
}

/// An object with one member that counts.
struct Skipped: JSONReadable {
  private(set) var known: Int?

  init(from json: inout JSONReader) throws(JSONError) {
    var seen: UInt64 = 0
    try json.beginObject()
    while try json.nextKey() {
      if json.keyIs("known") {
        try json.once(&seen, 0)
        known = try Int(from: &json)
      } else {
        try json.skip()
      }
    }
  }
}
