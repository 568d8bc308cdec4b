extension Wire {
  /// The plan of an app's next background refresh, and every number that led to it.
  public struct Planning: Codable, Hashable, Sendable {
    /// When the plan in force has the next background refresh, microseconds of the wall clock.
    public let plannedMicroseconds: Int64
    /// The last moment that a plan may choose, microseconds of the wall clock.
    public let ceilingMicroseconds: Int64
    /// Minutes of age that a refresh at this moment would spare the user.
    public let worth: Double
    /// Minutes of age that a refresh of this app must spare: the machine's price × the cost.
    public let price: Double
    /// Minutes of age that a refresh of cost 1 must spare.
    public let machinePrice: Double
    /// What a refresh costs, relative to the typical one of the machine.
    public let cost: Double
    /// How often a day the source has something new.
    public let newDataPerDay: Double
    /// How often a day the app is opened.
    public let openingsPerDay: Double
    /// Openings that are expected before the planned moment.
    public let openingsExpected: Double
    /// The minute of the local day around which the app is usually opened next; absent if no time stands out.
    public let likelyOpeningMinute: Int?
    /// Whether no moment to come is worth a refresh.
    public let isDormant: Bool

    /// Makes it of its parts.
    public init(
      plannedMicroseconds: Int64, ceilingMicroseconds: Int64, worth: Double, price: Double, machinePrice: Double,
      cost: Double, newDataPerDay: Double, openingsPerDay: Double, openingsExpected: Double,
      likelyOpeningMinute: Int? = nil, isDormant: Bool
    ) {
      self.plannedMicroseconds = plannedMicroseconds
      self.ceilingMicroseconds = ceilingMicroseconds
      self.worth = worth
      self.price = price
      self.machinePrice = machinePrice
      self.cost = cost
      self.newDataPerDay = newDataPerDay
      self.openingsPerDay = openingsPerDay
      self.openingsExpected = openingsExpected
      self.likelyOpeningMinute = likelyOpeningMinute
      self.isDormant = isDormant
    }

    private enum CodingKeys: String, CodingKey {
      case plannedMicroseconds = "planned_us"
      case ceilingMicroseconds = "ceiling_us"
      case worth
      case price
      case machinePrice = "machine_price"
      case cost
      case newDataPerDay = "new_data_per_day"
      case openingsPerDay = "openings_per_day"
      case openingsExpected = "openings_expected"
      case likelyOpeningMinute = "likely_opening_min"
      case isDormant = "is_dormant"
    }
  }

  /// What is learnt of an app, or pinned in its file.
  public struct Habits: Codable, Hashable, Sendable {
    /// Openings expected in each half hour of a Monday to Friday; 48 numbers.
    public let week: [Double]
    /// Openings expected in each half hour of a Saturday or Sunday; 48 numbers.
    public let weekend: [Double]
    /// How often a day the source has something new.
    public let newDataPerDay: Double
    /// What a refresh costs, relative to the typical one of the machine.
    public let cost: Double
    /// What of this is pinned in the app's file: `openings`, `new_data_per_day`, `cost`.
    public let pinned: [String]

    /// Makes it of its parts.
    public init(week: [Double], weekend: [Double], newDataPerDay: Double, cost: Double, pinned: [String]) {
      self.week = week
      self.weekend = weekend
      self.newDataPerDay = newDataPerDay
      self.cost = cost
      self.pinned = pinned
    }

    private enum CodingKeys: String, CodingKey {
      case week
      case weekend
      case newDataPerDay = "new_data_per_day"
      case cost
      case pinned
    }
  }
}
