import RefreshEngine

@testable import RefreshDaemon

// Loss of power, sleep and healing of the machine, and changes of its configuration.

extension SimulatedWorld {
  /// Cuts the power: unsynced saves and all processes are gone.
  func cutPower() {
    guard let life, life.isAlive else { return }
    note("the power fails")
    isPowerLost = true
    life.crash()
  }

  /// Boots the machine a while after the loss of power; its wall clock may become right only later.
  func boot(after old: DaemonLife) {
    isPowerLost = false
    do { try disk.losePower() } catch { book.fail(.daemonOpens, "\(error)") }
    book.lost()
    processes = SimulatedProcesses()
    workers.losePower()
    keepers.losePower()
    after(dice.duration(dice.pick([.seconds(10) ... .minutes(2), .minutes(2) ... .hours(4)]))) { [unowned self] in
      (boot, bootedAt) = (boot + 1, now - dice.duration(.seconds(5) ... .minutes(1)).inMicroseconds)
      note("boot \(boot)")
      if dice.happens(40) {
        let wrong = dice.duration(dice.pick([.minutes(1) ... .hours(5), .hours(1000) ... .hours(2000)]))
        wallError -= wrong
        after(dice.duration(.seconds(1) ... .minutes(5))) { [unowned self] in
          note("the wall clock is set after the boot")
          wallError += wrong
        }
      }
      openDaemon()
    }
  }

  /// Announces a sleep of the machine, and sleeps a moment later.
  func suspend(for span: Duration) {
    guard !isAsleep, let life, life.isAlive else { return }
    isAsleep = true
    note("the machine is going to sleep")
    book.sleepBegins()
    life.machine.onSleep(true)
    after(.milliseconds(4_900)) { [unowned self] in
      book.asleep()
      note("asleep for \(span)")
      for process in processes.inOrder {
        processes[process.key]?.hasSlept = true
        processes[process.key]?.endsAt = process.endsAt.map { $0 + span.inMicroseconds }
      }
      for index in agenda.indices { agenda[index].at += span.inMicroseconds }
      (now, excused) = (now + span.inMicroseconds, excused + span.inMicroseconds)
      isAsleep = false
      self.life?.machine.onSleep(false)
    }
  }

  /// Ends all trouble, and makes the users of all apps want refreshes.
  func heal() {
    note("healed")
    isHealed = true
    life?.crash(afterCalls: nil)
    disk.mend()
    space.heal()
    workers.heal()
    sessions.heal()
    (network, isOnBattery) = (Network(), false)
    // The machine may still be off.
    after(life == nil ? .hours(5) : .minutes(15)) { [unowned self] in
      guard let daemon = life?.daemon else { return book.fail(.daemonOpens, "no daemon after the heal") }
      resume(book.clients.openTransfers)
      life?.machine.report()
      daemon.core.handle(.paused(nil))
      sessions.report()
      if let app = SimulatedKeepers.app { daemon.core.handle(.disabled(app, false)) }
      for app in apps {
        daemon.core.handle(.disabled(app.id, false))
        daemon.core.handle(.overridden(app.id, Overrides()))
        for signal in [Signal.login, .launched, .background] { send(signal, of: app.id) }
      }
    }
  }

  /// Has a new file of an app put in force.
  func reload() {
    guard let daemon = life?.daemon, !apps.isEmpty else { return }
    let index = chance.number(below: apps.count)
    guard let next = SimulatedApp(index, &chance, apps[index].extras) else { return }
    let isWrong = chance.happens(20)
    note("reload of \(next.id)\(isWrong ? " with a mistake" : "")")
    do {
      try directory.write(next.fileName, isWrong ? "interval = [" : next.text)
    } catch {
      book.fail(.daemonOpens, "\(error)")
    }
    daemon.reload { [unowned self] problems in
      if problems.isEmpty == isWrong { book.fail(.daemonOpens, "reload: \(problems)") }
    }
    // A daemon that starts with the mistake would not start.
    if isWrong {
      do { try directory.write(apps[index].fileName, apps[index].text) } catch { book.fail(.daemonOpens, "\(error)") }
    } else {
      apps[index] = next
      if offlineSince != nil { offlineSince = (now, excused) }
    }
  }
}
