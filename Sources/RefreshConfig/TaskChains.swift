import RefreshEngine

/// The tasks of one file together: what they are called, and who comes after whom (FEATURES B7).
extension [TaskSection] {
  /// The names in force, in the order of the file: those without one under their program's, numbered if it is taken.
  private var names: [String] {
    var taken = Set(compactMap(\.name))
    return map { task in
      if let name = task.name { return name }
      var name = task.standardName
      var number = 2
      while !taken.insert(name).inserted {
        name = "\(task.standardName)-\(number)"
        number += 1
      }
      return name
    }
  }

  /// The tasks as the engine knows them.
  func policies(of owner: Owner) -> [TaskPolicy] {
    let names = names
    let places = Dictionary(zip(names, names.indices)) { first, _ in first }
    return zip(self, names).map { task, name in
      var newData = task.newData
      if case .changed(let path) = newData { newData = .changed(path: owner.path(of: path)) }
      var policy = TaskPolicy(
        name: name, newData: newData, noDataExit: task.noDataExit, retryExit: task.retryExit)
      policy.after = task.after.compactMap { places[$0] }.sorted()
      return policy
    }
  }

  /// Refuses a name in `after` that no task has, that stands there twice or is the task's own, and a circle.
  ///
  /// - Parameter sections: the tables of the tasks, in the same order.
  func refuseWrongChains(in sections: inout [Section]) {
    let names = names
    for (place, task) in enumerated() {
      for (index, name) in task.after.enumerated() {
        if name == names[place] {
          sections[place].refuse(
            "after",
            Unreadable(message: "cannot start \(quoted(name)) after itself", remedy: "write the names of other tasks"))
        } else if !names.contains(name) {
          let others = names.filter { $0 != names[place] }
          sections[place].refuse(
            "after",
            Unreadable(
              message: "cannot start after \(quoted(name)): no task of this file has that name",
              remedy: others.isEmpty ? "remove the key" : "write one of \(others.map(quoted).joined(separator: ", "))"))
        } else if task.after[..<index].contains(name) {
          sections[place].refuse(
            "after", Unreadable(message: "cannot start after \(quoted(name)) twice", remedy: "write the name once"))
        }
      }
    }
    guard sections.allSatisfy({ $0.problems.isEmpty }), let circle = circle(among: names) else { return }
    let path = (circle + circle.prefix(1)).map { quoted(names[$0]) }.joined(separator: " after ")
    sections[circle[0]].refuse(
      "after",
      Unreadable(
        message: "cannot start any of these first: \(path)", remedy: "take one of the names out of after"))
  }

  /// Tasks each of which comes after the next, and the last after the first; nil when there are none.
  private func circle(among names: [String]) -> [Int]? {
    var left = Set(indices)
    while let free = left.first(where: { task in
      self[task].after.allSatisfy { name in !left.contains { names[$0] == name } }
    }) {
      left.remove(free)
    }
    // Each of those that are left comes after another of them: whoever follows that comes round.
    guard var task = left.min() else { return nil }
    var path: [Int] = []
    while !path.contains(task) {
      path.append(task)
      guard let next = left.filter({ self[task].after.contains(names[$0]) }).min() else { return nil }
      task = next
    }
    return [Int](path.drop { $0 != task })
  }
}
