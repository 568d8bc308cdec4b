/// The declarations of an interface file, in its order.
struct InterfaceFile: Equatable {
  var name = ""
  var comment = ""
  /// The whole text of the file.
  var text = ""
  var types: [TypeDeclaration] = []
  var methods: [MethodDeclaration] = []
  var errors: [ErrorDeclaration] = []
}

struct TypeDeclaration: Equatable {
  let name: String
  let comment: String
  let shape: Shape
}

struct MethodDeclaration: Equatable {
  let name: String
  let comment: String
  let parameters: [Member]
  let reply: [Member]
}

struct ErrorDeclaration: Equatable {
  let name: String
  let comment: String
  let members: [Member]
}

/// The shape of a type: members, or the words of an enum.
enum Shape: Equatable {
  case record([Member])
  case words([Word])
  /// A string of which the file knows some words; a later service may send others.
  case openWords([Word])
}

struct Member: Equatable {
  let name: String
  let type: WireType
  var comment = ""
}

struct Word: Equatable {
  let name: String
  var comment = ""
}

indirect enum WireType: Equatable {
  case bool, int, float, string, object
  case named(String)
  case array(WireType)
  case map(WireType)
  case optional(WireType)
  /// A type that is declared where it is used.
  case inline(Shape)
}
