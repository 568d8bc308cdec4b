// The smallest app that refreshes itself with RefreshKit, which performer.c measures. Ends with its daemon.
import RefreshKit

do {
  let client = try await RefreshClient.connect(app: "org.example.bench")
  await client.onRefresh { _ in .noData }
  for await case .disconnected in client.events { break }
} catch {
  print(error)
}
