// What the methods of org.varlink.certification take and answer: each takes the answer of the one before.

/// The client's id beside the parameters that a method is about.
struct Identified<Value: Codable & Equatable & Sendable>: Codable, Equatable {
  let client: Started
  let value: Value

  init(client: Started, value: Value) {
    self.client = client
    self.value = value
  }

  init(from decoder: any Decoder) throws {
    client = try Started(from: decoder)
    value = try Value(from: decoder)
  }

  func encode(to encoder: any Encoder) throws {
    try client.encode(to: encoder)
    try value.encode(to: encoder)
  }
}

struct Nothing: Codable, Equatable {}

struct Started: Codable, Equatable {
  let id: String

  enum CodingKeys: String, CodingKey {
    case id = "client_id"
  }
}

struct Bool1: Codable, Equatable {
  let bool: Bool
  static let expected = Bool1(bool: true)
}

struct Int1: Codable, Equatable {
  let int: Int
  static let expected = Int1(int: 1)
}

struct Float1: Codable, Equatable {
  let float: Double
  static let expected = Float1(float: 1)
}

struct String1: Codable, Equatable {
  let string: String
  static let expected = String1(string: "ping")
}

struct Basics: Codable, Equatable {
  let bool: Bool
  let int: Int
  let float: Double
  let string: String
  static let expected = Basics(bool: false, int: 2, float: .pi, string: "a lot of string")
}

struct Struct1: Codable, Equatable {
  let `struct`: Basics
  static let expected = Struct1(struct: .expected)
}

struct Map1: Codable, Equatable {
  let map: [String: String]
  static let expected = Map1(map: ["foo": "Foo", "bar": "Bar"])
}

struct Set1: Codable, Equatable {
  let set: [String: Nothing]
  static let expected = Set1(set: ["one": Nothing(), "two": Nothing(), "three": Nothing()])
}

struct MyType1: Codable, Equatable {
  let mytype: MyType
  static let expected = MyType1(
    mytype: MyType(
      object: .init(method: "org.varlink.certification.Test09", parameters: .expected), enum: .two,
      struct: .init(first: 1, second: "2"), array: ["one", "two", "three"], dictionary: Map1.expected.map,
      stringset: Set1.expected.set, nullable: nil, nullableArrayStruct: nil,
      interface: .init(
        foo: [nil, ["foo": .foo, "bar": .bar], nil, ["one": .foo, "two": .bar]], anon: .init(foo: true, bar: false))))
}

struct MyType: Codable, Equatable {
  /// Any object by the interface, this one by the certification.
  struct Object: Codable, Equatable {
    let method: String
    let parameters: Map1
  }
  enum Number: String, Codable {
    case one, two, three
  }
  struct Pair: Codable, Equatable {
    let first: Int
    let second: String
  }
  struct Interface: Codable, Equatable {
    enum Name: String, Codable {
      case foo, bar, baz
    }
    struct Anonymous: Codable, Equatable {
      let foo: Bool
      let bar: Bool
    }
    let foo: [[String: Name]?]?
    let anon: Anonymous
  }
  let object: Object
  let `enum`: Number
  let `struct`: Pair
  let array: [String]
  let dictionary: [String: String]
  let stringset: [String: Nothing]
  let nullable: String?
  let nullableArrayStruct: [Pair]?
  let interface: Interface

  enum CodingKeys: String, CodingKey {
    case object, `enum`, `struct`, array, dictionary, stringset, nullable, interface
    case nullableArrayStruct = "nullable_array_struct"
  }
}

struct Replies: Codable, Equatable {
  let replies: [String]
  static let expected = Replies(replies: (1...10).map { "Reply number \($0)" })

  enum CodingKeys: String, CodingKey {
    case replies = "last_more_replies"
  }
}

struct Ended: Codable, Equatable {
  let allOK: Bool

  enum CodingKeys: String, CodingKey {
    case allOK = "all_ok"
  }
}
