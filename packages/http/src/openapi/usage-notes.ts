/** Notes on exports of usage. */
export const NOTES_ON_USAGE: Readonly<Record<string, string>> = {
  "usage.exportUsage.by": "What a row is of.",
  "usage.exportUsage.end":
    "Unix epoch ms, not included. A span counts as a whole, also where the range cuts it.",
  "UsageRow.id": "The same whenever the row is told.",
  "usage.exportUsage.limit": "Largest number of rows on the page.",
  "UsageRow.outcomes": "Verifications by verdict; a verdict that was not given is absent.",
  "usage.exportUsage.rows":
    "In ascending order of the day or month, of what they are of, and of `start`.",
  "usage.exportUsage.start":
    "Unix epoch ms, included. A span counts as a whole, also where the range cuts it.",
  "usage.exportUsage.until":
    "Unix epoch ms: with the pages that follow, all rows that start before are told. The next export begins here.",
  "UsageRow.start": "Unix epoch ms at which the span begins.",
  "UsageRow.uses":
    "Uses that valid verifications took: 1 each or their `cost`; of a reservation what it came to.",
};
