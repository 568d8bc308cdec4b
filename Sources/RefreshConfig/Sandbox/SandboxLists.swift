// Values of `[sandbox]` that are lists: an array of words, or a text with spaces between them as in a unit file.

extension Node {
  /// The words of an array or a text; nil for a value of another type.
  private var listed: [String]? {
    switch value {
    case .string(let text): return text.split { $0 == " " || $0 == "\t" }.map(String.init)
    case .array(let elements):
      let words = elements.compactMap { element -> String? in
        if case .string(let text) = element.value { text } else { nil }
      }
      return words.count == elements.count ? words : nil
    default: return nil
    }
  }

  /// Words that are all valid names.
  func words(
    _ kind: String, remedy: String, _ isName: (String) -> Bool
  ) throws(Unreadable) -> [String]? {
    guard let words = listed else { return nil }
    guard !words.isEmpty else { throw Unreadable("cannot take an empty list", remedy: remedy) }
    if let wrong = words.first(where: { !isName($0) }) {
      throw Unreadable("cannot take \(quoted(wrong)) as \(kind)", remedy: remedy)
    }
    return words
  }

  /// A list of allowed words, or of denied words if the first begins with `~`.
  func filter(
    _ kind: String, remedy: String, _ isName: (String) -> Bool
  ) throws(Unreadable) -> SandboxProperty.Value? {
    guard let (isAllowing, names) = try names(kind, remedy: remedy, isName) else { return nil }
    guard !names.isEmpty else { throw Unreadable("cannot take an empty list", remedy: remedy) }
    return .filter(isAllowing: isAllowing, names)
  }

  /// The flags of the allowed words: only these, all but these, none or all.
  ///
  /// If the key is a restriction (`isRestricting`), `true` allows none, and an empty list is refused. For any other
  /// key, an empty list allows none.
  func flags(
    _ table: [String: UInt64], _ kind: String, isRestricting: Bool
  ) throws(Unreadable) -> UInt64? {
    let every = table.values.reduce(0, |)
    if isRestricting, case .boolean(let isOn) = value { return isOn ? 0 : every }
    let some = table.keys.sorted().prefix(2).map(quoted).joined(separator: ", ")
    let remedy = "write names such as \(some)"
    guard let (isAllowing, names) = try names(kind, remedy: remedy, { table[$0] != nil }) else { return nil }
    guard !(names.isEmpty && isRestricting) else {
      throw Unreadable("cannot take an empty list", remedy: "\(remedy), or true to allow none")
    }
    let flags = names.reduce(0) { $0 | (table[$1] ?? 0) }
    return isAllowing ? flags : every & ~flags
  }

  private func names(
    _ kind: String, remedy: String, _ isName: (String) -> Bool
  ) throws(Unreadable) -> (isAllowing: Bool, [String])? {
    guard let words = listed else { return nil }
    let isAllowing = words.first?.first != "~"
    var names: [String] = []
    for word in words {
      guard !(isAllowing && word.first == "~") else {
        throw Unreadable(
          "cannot both allow and deny in one list", remedy: "write ~ before the first name, or before none")
      }
      let name = word.first == "~" ? String(word.dropFirst()) : word
      guard isName(name) else {
        throw Unreadable("cannot take \(quoted(name)) as \(kind)", remedy: remedy)
      }
      names.append(name)
    }
    return (isAllowing, names)
  }

  /// A path or an array of paths; `~/` means the owner's home, and a leading `-` makes a path optional.
  func paths() throws(Unreadable) -> [String]? {
    let paths: [String]
    if case .string(let path) = value { paths = [path] } else if let listed { paths = listed } else { return nil }
    for path in paths {
      guard (path.hasPrefix("-") ? path.dropFirst() : path[...]).isPath else {
        throw Unreadable(
          "cannot use \(quoted(path)) as a path: it is not a whole one",
          remedy: "begin with a slash, or with ~/ for the owner's home; a - before it passes over what is not there")
      }
    }
    return paths
  }
}
