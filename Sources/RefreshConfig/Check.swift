@preconcurrency import Glibc

extension Configuration {
  /// Returns every mistake in the files on disk, those of the bridge's `push.toml` too, and then the warnings.
  public static func problems(in sources: ConfigurationSources, as reader: Reader) -> [Problem] {
    var problems: [Problem] = []
    var secrets = SecretWarnings()
    var warnings: [Problem] = []
    do throws(ConfigurationError) {
      let configuration = try load(from: sources, as: reader)
      secrets.look(at: configuration)
      warnings = UnitFiles().warnings(of: configuration) + WatchedPaths.warnings(of: configuration)
    } catch {
      problems += error.problems
    }
    let home = UserDatabase(readsGroups: false).user(numbered: reader.uid).home
    do throws(ConfigurationError) {
      let push = try PushConfiguration.load(from: sources, home: home)
      if let file = sources.file(named: "push.toml") { secrets.look(at: push, in: file.path) }
    } catch {
      problems += error.problems
    }
    return problems + secrets.warnings + warnings + MisplacedFiles.warnings(in: sources)
  }

  /// Returns the mistakes and warnings that a new file of `apps.d` would cause; writes nothing.
  ///
  /// The file is read with the limits and defaults in force, and together with the other apps, whose ids it must not
  /// repeat.
  ///
  /// `name` ends in `.toml`. The file takes the place of an existing file of this name.
  public static func problems(
    addedBy text: String, named name: String, to sources: ConfigurationSources, as reader: Reader
  ) -> [Problem] {
    guard let folder = sources.appsFolder else { return [] }
    let file = ConfigurationFile(folder: folder, name: name, draft: text)
    var drafted = sources
    drafted.draft = file
    let before = Set(problems(in: sources, as: reader).filter { $0.file != file.path })
    return problems(in: drafted, as: reader).filter { !before.contains($0) }
  }
}

/// Warns of secrets that others may read: on the network, or in a file.
///
/// These are warnings, because a network may be trusted.
struct SecretWarnings {
  private(set) var warnings: [Problem] = []

  /// Checks the built-in tasks of the apps.
  mutating func look(at configuration: Configuration) {
    // Many apps may share the ping of `[defaults]`, and one warning is enough.
    var filesOfPings: Set<String> = []
    for app in configuration.apps {
      let file = app.ends.pingFile ?? app.file
      if let ping = app.ends.ping, filesOfPings.insert(file).inserted {
        look(at: ping.text, "the URL of the ping, which is a secret,", key: "ping", in: file)
      }
      for builtIn in app.commands.compactMap(\.builtIn) {
        if case .replicate(let replication) = builtIn.work { look(at: replication, in: app.file) }
        guard let file = builtIn.file else { continue }
        let hasFile = file.headersFile != nil || file.credentialFile != nil
        look(at: file.url, hasFile || file.usesNetrc ? "a login" : nil, in: app.file)
        for (key, path) in [("headers_file", file.headersFile), ("credential_file", file.credentialFile)] {
          look(at: path, key, forbidden: 0o077, in: app.file)
        }
      }
    }
  }

  /// Checks the three servers of a replication; the CouchDB that does the work gets the logins of both databases.
  private mutating func look(at replication: Replication, in file: String) {
    let peers = [
      ("source", replication.source), ("target", replication.target), ("server", replication.server),
    ]
    // refreshd checks the server's own certificate.
    let unchecked = peers.dropLast().first { !$1.url.isPlain && !$1.url.isOfThisMachine }
    if let (key, peer) = unchecked {
      warn(
        key, in: file,
        "cannot tell whether CouchDB checks the certificate of \(peer.url.host), which it does not do by default: anyone on the way "
          + "could read and change the documents and the login",
        remedy: "set verify_ssl_certificates = true and ssl_trusted_certificates_file in [replicator] of CouchDB")
    }
    let isSecret = peers.contains { $1.credentialFile != nil || $1.headersFile != nil }
    var seen: Set<String> = []
    for (key, peer) in peers {
      let hasFile = peer.credentialFile != nil || peer.headersFile != nil
      let secret = hasFile || peer.url.host == replication.server.url.host && isSecret ? "a login" : nil
      if let secret, seen.insert("\(peer.url.isPlain) \(peer.url.host)").inserted {
        look(at: peer.url.text, secret, key: key, in: file)
      }
      for (suffix, path) in [("credential_file", peer.credentialFile), ("headers_file", peer.headersFile)] {
        guard let path, seen.insert(path).inserted else { continue }
        look(at: path, "\(key)_\(suffix)", forbidden: 0o077, in: file)
      }
    }
  }

  /// Checks the sources of `push.toml`.
  mutating func look(at push: PushConfiguration, in file: String) {
    for source in push.sources {
      switch source {
      case .ntfy(let settings):
        look(at: settings.url.text, "topics, which are secrets,", in: file)
        look(at: settings.credentialFile, "ntfy.credential_file", forbidden: 0o007, in: file)
      case .sse(let settings):
        let hasFile = settings.headersFile != nil || settings.credentialFile != nil
        look(at: settings.url.text, hasFile ? "a login" : nil, in: file)
        look(at: settings.headersFile, "sse.headers_file", forbidden: 0o007, in: file)
        look(at: settings.credentialFile, "sse.credential_file", forbidden: 0o007, in: file)
      case .mqtt(let settings):
        if !settings.usesTLS, !HTTPURL.isThisMachine(settings.host) {
          warn(
            "mqtt.tls", in: file,
            "cannot protect messages\(settings.credentialFile == nil ? "" : " and the password") on the way to "
              + settings.host, remedy: "remove tls = false, unless you trust that network")
        }
        look(at: settings.credentialFile, "mqtt.credential_file", forbidden: 0o007, in: file)
        look(at: settings.keyFile, "mqtt.key_file", forbidden: 0o007, in: file)
      }
    }
  }

  /// Checks the secrets that are sent to a URL or contained in it.
  private mutating func look(at text: String, _ secret: String?, key: String = "url", in file: String) {
    let url: HTTPURL
    do throws(Unreadable) { url = try HTTPURL(text) } catch { return }
    if url.isPlain, !url.isOfThisMachine, let secret = url.hasLogin ? "a password" : secret {
      warn(
        key, in: file, "cannot protect \(secret) on the way to \(url.host): http:// is not encrypted",
        remedy: "use https://, unless you trust that network")
    }
    if url.hasLogin, let mode = Self.mode(of: file), mode & 0o004 != 0 {
      let remedy =
        key == "ping"
        ? "run chmod o-rwx on it" : "put it in a credential_file with mode 0600"
      warn(key, in: file, "cannot keep a password in a file that everyone can read", remedy: remedy)
    }
  }

  /// Checks the mode of a file with secrets; a name without a slash is a credential, which systemd protects.
  private mutating func look(at path: String?, _ key: String, forbidden: mode_t, in file: String) {
    guard let path, path.hasPrefix("/"), let mode = Self.mode(of: path), mode & forbidden != 0 else { return }
    warn(
      key, in: file, "cannot keep secrets in \(quoted(path)): others can read it",
      remedy: "run chmod \(forbidden & 0o070 == 0 ? "o-rwx" : "go-rwx") on it")
  }

  /// The mode of a file; nil if it does not exist, or its file system does not answer.
  private static func mode(of path: String) -> mode_t? {
    let folder = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
    let mode = Patience.ask(about: "files in \(folder)/") {
      var status = stat()
      return stat(path, &status) == 0 ? mode_t?.some(status.st_mode) : nil
    }
    return mode ?? nil
  }

  private mutating func warn(_ key: String, in file: String, _ message: String, remedy: String) {
    warnings.append(Problem(file: file, key: key, message: message, remedy: remedy, isWarning: true))
  }
}

extension HTTPURL {
  /// Whether the scheme is `http`, so that nothing is encrypted.
  var isPlain: Bool { text.prefix(5).lowercased() == "http:" }
}

/// Warns of files that nothing reads, although their names look like configuration.
private enum MisplacedFiles {
  /// The warnings about the files of all directories.
  ///
  /// These are warnings, because another program may keep its own files there.
  static func warnings(in sources: ConfigurationSources) -> [Problem] {
    sources.directories.flatMap { directory in
      let apps = "\(directory)/apps.d"
      return warnings(in: directory) { name in
        let lower = name.lowercased()
        if ConfigurationSources.mainNames.contains(lower) {
          return name == lower ? nil : misspelt(lower, in: directory)
        }
        return Unreadable(
          "the file is ignored: app files belong in apps.d", remedy: "move it to \(apps), or remove it")
      }
        + warnings(in: apps) { name in
          name.hasSuffix(".toml") ? nil : misspelt("\(name.dropLast(".toml".count)).toml", in: apps)
        }
    }
  }

  /// Makes the warning about a file that should be called `name`.
  private static func misspelt(_ name: String, in folder: String) -> Unreadable {
    var status = stat()
    let isTaken = lstat("\(folder)/\(name)", &status) == 0
    return Unreadable(
      "the file is ignored: its name has uppercase letters",
      remedy: isTaken ? "remove it; \(name) already exists" : "rename it to \(name), or remove it")
  }

  private static func warnings(in folder: String, _ judge: (String) -> Unreadable?) -> [Problem] {
    (ConfigurationSources.names(in: folder) ?? [])
      .filter { $0.lowercased().hasSuffix(".toml") && !isFolder("\(folder)/\($0)") }.sorted().compactMap { name in
        judge(name).map {
          Problem(file: "\(folder)/\(name)", message: $0.message, remedy: $0.remedy, isWarning: true)
        }
      }
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
