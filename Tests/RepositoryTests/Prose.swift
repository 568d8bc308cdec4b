import FoundationEssentials
import Glibc

/// The rules for sentences: each has a subject, and few words.
enum Prose {
  /// Words that open a sentence without naming a subject.
  static let headless: Set<String> = [
    "What", "Who", "Those", "One", "That", "Which", "Whoever", "Whatever", "Whose", "Whom",
  ]
  static let mostWords = 45

  /// A text of a file, with the number of its first line.
  typealias Block = (line: Int, text: String)

  /// The problem of a sentence, and the remedy; nil if there is none.
  static func problem(of sentence: [Substring]) -> String? {
    let first = sentence.first.map { $0.filter { $0.isLetter } } ?? ""
    if headless.contains(String(first)), sentence.last?.last != "?" {
      return "opens a sentence with \(first); name the subject first"
    }
    if sentence.count > mostWords { return "has a sentence of \(sentence.count) words; make two of it" }
    return nil
  }

  /// The words of each sentence; what stands between backticks is one word.
  static func sentences(of text: String) -> [[Substring]] {
    let parts = text.split(separator: "`", omittingEmptySubsequences: false)
    var plain = ""
    for (index, part) in parts.enumerated() {
      let isQuoted = index % 2 == 1 && index < parts.count - 1
      plain += isQuoted ? "X" : part
    }
    var sentences: [[Substring]] = []
    var sentence: [Substring] = []
    for word in plain.split(separator: " ") {
      if let before = sentence.last, let last = before.last, ".!?:;".contains(last), let first = word.first,
        first.isUppercase || "`“\"(".contains(first)
      {
        sentences.append(sentence)
        sentence = []
      }
      if word != "-" || !sentence.isEmpty { sentence.append(word) }
    }
    if !sentence.isEmpty { sentences.append(sentence) }
    return sentences
  }

  /// The comments that stand on lines of their own; list items are separate.
  static func comments(in bytes: Data, hasHashes: Bool) -> [Block] {
    var blocks: [Block] = []
    var isOpen = false
    bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      var (offset, number) = (0, 0)
      while offset < bytes.count {
        let rest = bytes.count - offset
        let end = memchr(start + offset, 10, rest).map { UnsafeRawPointer($0) - start } ?? bytes.count
        number += 1
        let line = UnsafeRawBufferPointer(rebasing: bytes[offset..<end])
        offset = end + 1
        guard let body = body(of: line, hasHashes: hasHashes) else {
          isOpen = false
          continue
        }
        let text = String(decoding: body, as: UTF8.self)
        let trimmed = text.drop { $0 == " " }
        guard !trimmed.isEmpty, !["MARK:", "- Parameter", "swift-format"].contains(where: trimmed.hasPrefix) else {
          isOpen = false
          continue
        }
        let isItem = ["- ", "* ", "|"].contains(where: trimmed.hasPrefix) || text.hasPrefix("    ")
        if isOpen, !isItem, let last = blocks.indices.last {
          blocks[last].text += " " + trimmed
        } else {
          blocks.append((number, String(trimmed)))
        }
        isOpen = true
      }
    }
    return blocks
  }

  /// The paragraphs and items of a page; no headings, tables and code.
  static func paragraphs(of page: String) -> [Block] {
    var blocks: [Block] = []
    var (isOpen, isCode) = (false, false)
    for (index, line) in page.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let isFence = line.hasPrefix("```")
      if isFence { isCode.toggle() }
      let isProse = !isFence && !isCode && !line.isEmpty && !["    ", "|", "#"].contains(where: line.hasPrefix)
      let text = line.filter { $0 != "*" && $0 != "[" }.split(separator: " ").joined(separator: " ")
      if isProse, isOpen, !line.hasPrefix("- "), let last = blocks.indices.last {
        blocks[last].text += " " + text
      } else if isProse {
        blocks.append((index + 1, text.hasPrefix("- ") ? String(text.dropFirst(2)) : text))
      }
      isOpen = isProse
    }
    return blocks
  }

  /// The text of a line that is a comment; nil for another line.
  private static func body(of line: UnsafeRawBufferPointer, hasHashes: Bool) -> UnsafeRawBufferPointer.SubSequence? {
    var index = 0
    while index < line.count, line[index] == UInt8(ascii: " ") { index += 1 }
    let marker = UInt8(ascii: hasHashes ? "#" : "/")
    guard index < line.count, line[index] == marker else { return nil }
    if hasHashes {
      index += 1
    } else {
      guard index + 1 < line.count, line[index + 1] == marker || line[index + 1] == UInt8(ascii: "*") else {
        return nil
      }
      index += 2
      if index < line.count, line[index] == marker || line[index] == UInt8(ascii: "*") { index += 1 }
    }
    if index < line.count, line[index] == UInt8(ascii: " ") { index += 1 }
    return line[index...]
  }
}
