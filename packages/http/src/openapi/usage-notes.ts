/** Notes on exports of usage. */
export const NOTES_ON_USAGE: Readonly<Record<string, string>> = {
  "usage.exportUsage.by": "What each row counts.",
  "usage.exportUsage.end":
    "Unix epoch ms, not included. A span counts as a whole, even if the range cuts it.",
  "UsageRow.id": "Always the same for the same row.",
  "usage.exportUsage.limit": "Largest number of rows on the page.",
  "UsageRow.outcomes": "Verifications by verdict; a verdict that was not given is absent.",
  "usage.exportUsage.rows":
    "In ascending order of the day or month, then of what they count, then of `start`.",
  "usage.exportUsage.start":
    "Unix epoch ms, included. A span counts as a whole, even if the range cuts it.",
  "usage.exportUsage.until":
    "Unix epoch ms: this export, with all of its pages, contains every row that starts before this. The next export begins here.",
  "UsageRow.start": "Unix epoch ms at which the span begins.",
  "UsageRow.uses":
    "Uses that valid verifications took: 1 each or their `cost`; for a reservation, what it was settled with.",
};
