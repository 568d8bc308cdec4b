import CLinux

/// The name of a signal, such as `SIGSEGV` (signal(7)).
func signalName(_ number: some BinaryInteger) -> String {
  sigabbrev_np(CInt(number)).map { "SIG" + String(cString: $0) } ?? "signal \(number)"
}
