import PackagePlugin

/// Makes Swift of the `.varlink` files of a target, before each build in which one of them has changed.
///
/// A target with a `.twins` file gets the conversions for the `.varlink` files of the targets that it depends on.
@main struct VarlinkSwift: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
    guard let target = target as? SourceModuleTarget else { return [] }
    let folder = context.pluginWorkDirectoryURL
    let list = target.sourceFiles(withSuffix: "twins").map(\.url)
    let sources = list.isEmpty ? [target] : target.dependencies.flatMap(\.sources)
    let files = sources.flatMap { $0.sourceFiles(withSuffix: "varlink") }.map(\.url).sorted { $0.path < $1.path }
    guard list.isEmpty else {
      return [
        .buildCommand(
          displayName: "Making the conversions of \(target.name)'s enums",
          executable: try context.tool(named: "varlink-swift").url,
          arguments: [target.name, folder.path] + (list + files).map(\.path), inputFiles: list + files,
          outputFiles: [folder.appending(path: "Twins.swift")])
      ]
    }
    let names = ["Wire"] + files.map { $0.deletingPathExtension().lastPathComponent }
    return [
      .buildCommand(
        displayName: "Making the Swift of \(target.name)'s interfaces",
        executable: try context.tool(named: "varlink-swift").url,
        arguments: [target.name, folder.path] + files.map(\.path), inputFiles: files,
        outputFiles: names.map { folder.appending(path: "\($0).swift") })
    ]
  }
}

extension TargetDependency {
  /// The targets of this package that the dependency is.
  fileprivate var sources: [any SourceModuleTarget] {
    if case .target(let target as any SourceModuleTarget) = self { [target] } else { [] }
  }
}
