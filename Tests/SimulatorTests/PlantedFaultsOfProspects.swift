import RefreshEngine

/// Lies about what comes next for an app.
let plantedFaultsOfProspects = [
  lie("forgets the pause") { if case .paused = $0 { true } else { false } },
  lie("forgets quiet hours", seed: 21) { if case .quiet = $0 { true } else { false } },
  lie("forgets the network") { if case .constraint(.network, _) = $0 { true } else { false } },
  lie("forgets the disk", seed: 23) { if case .constraint(.mounted, _) = $0 { true } else { false } },
  Planted("ProspectsAreTrue", "says that what is held never starts") { fault in
    fault.foretelling = { prospect in
      guard !prospect.holds.isEmpty else { return prospect }
      var prospect = prospect
      prospect.start = nil
      return prospect
    }
  },
  Planted("ProspectsAreTrue", "says that an app starts when it is due, whatever holds it") { fault in
    fault.foretelling = { prospect in
      var prospect = prospect
      prospect.start = prospect.due
      return prospect
    }
  },
]

/// Says nothing of some holds, and then that the app starts when it is due.
private func lie(_ name: String, seed: UInt64 = 1, of isForgotten: @escaping @Sendable (Hold) -> Bool) -> Planted {
  Planted("ProspectsAreTrue", name, seed: seed) { fault in
    fault.foretelling = { prospect in
      guard prospect.holds.contains(where: isForgotten) else { return prospect }
      var prospect = prospect
      prospect.holds.removeAll(where: isForgotten)
      if prospect.holds.isEmpty { prospect.start = prospect.due }
      return prospect
    }
  }
}
