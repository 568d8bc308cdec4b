import Glibc
import RefreshAPI
import Systemd
import Varlink

/// The built-in task `unit`: starts a systemd service, waits for its end, and ends with the same result.
enum UnitTask {
  /// Runs the task and returns the exit code.
  static func run() -> Int32 {
    TaskContext.run(Wire.UnitOrder.self) { order, context in
      do throws(SystemdError) {
        let run = try UnitRun(order)
        guard let outcome = try run.run() else { return EX_TEMPFAIL }
        report(run.facts, context)
        switch outcome {
        case .exited(let code): return code
        case .result(let result): return context.end(result)
        }
      } catch {
        return context.end(TaskResult(TaskFailure(.retry(after: nil), "\(error)")))
      }
    }
  }

  /// Reports the resources that the unit has used.
  private static func report(_ facts: UnitFacts, _ context: TaskContext) {
    guard facts.cpu != nil || facts.bytes != nil else { return }
    do throws(ClientError) {
      _ = try context.call(WorkerInterface.Account.self) { token in
        WorkerInterface.Account.Parameters(
          token: token, cpuMicroseconds: facts.cpu.map { Int64(min($0 / 1000, 1 << 50)) },
          bytes: facts.bytes.map { Int64(min($0, 1 << 53)) })
      }
    } catch {
      logError("cannot tell refreshd what the unit has used: \(error)")
    }
  }
}
