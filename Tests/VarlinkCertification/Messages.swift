import JSON

/// A client's id in addition to the parameters that a method is about.
struct Identified: JSONWritable {
  let client: String
  let value: JSONValue

  func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("client_id", client)
    if case .object(let members) = value {
      for member in members {
        json.name(member.name)
        member.value.write(to: &json)
      }
    }
    json.endObject()
  }
}

/// The answers that the certification prescribes; each method wants the answer of the method before it.
enum Answers {
  static let replies = (1...10).map { "Reply number \($0)" }
  static let test01 = read(#"{"bool":true}"#)
  static let test02 = read(#"{"int":1}"#)
  static let test03 = read(#"{"float":1}"#)
  static let test04 = read(#"{"string":"ping"}"#)
  static let test05 = read(#"{"bool":false,"int":2,"float":3.141592653589793,"string":"a lot of string"}"#)
  static let test06 = read(
    #"{"struct":{"bool":false,"int":2,"float":3.141592653589793,"string":"a lot of string"}}"#)
  static let test07 = read(#"{"map":{"foo":"Foo","bar":"Bar"}}"#)
  static let test08 = read(#"{"set":{"one":{},"two":{},"three":{}}}"#)
  static let test09 = read(
    #"""
    {"mytype":{"object":{"method":"org.varlink.certification.Test09","parameters":{"map":{"foo":"Foo","bar":"Bar"}}},
    "enum":"two","struct":{"first":1,"second":"2"},"array":["one","two","three"],
    "dictionary":{"foo":"Foo","bar":"Bar"},"stringset":{"one":{},"two":{},"three":{}},
    "interface":{"foo":[null,{"foo":"foo","bar":"bar"},null,{"one":"foo","two":"bar"}],
    "anon":{"foo":true,"bar":false}}}}
    """#)
  static let test10 = JSONValue.object([.init(name: "last_more_replies", value: .list(replies.map(JSONValue.text)))])
  static let all = [
    Certification.Test01.name: test01, Certification.Test02.name: test02, Certification.Test03.name: test03,
    Certification.Test04.name: test04, Certification.Test05.name: test05, Certification.Test06.name: test06,
    Certification.Test07.name: test07, Certification.Test08.name: test08, Certification.Test09.name: test09,
    Certification.End.name: read(#"{"all_ok":true}"#),
  ]

  private static func read(_ text: String) -> JSONValue {
    do { return try JSONValue(jsonText: Array(text.utf8)) } catch { fail("cannot read an answer: \(error)") }
  }
}

extension JSONValue {
  /// The object without the member of this name.
  func removing(_ name: String) -> JSONValue {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { $0.name != name })
  }

  /// Whether both are the same value, in whatever order the members are.
  func isSame(as other: JSONValue) -> Bool {
    switch (self, other) {
    case (.object(let left), .object(let right)):
      left.count == right.count
        && left.allSatisfy { member in other[member.name].map(member.value.isSame) == true }
    case (.list(let left), .list(let right)):
      left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
    default: self == other
    }
  }
}
