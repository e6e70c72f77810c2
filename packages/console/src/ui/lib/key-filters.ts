/** Filters that are texts, as listKeys names them. */
export const TEXT_FILTERS = [
  "nameContains",
  "start",
  "externalId",
  "enabled",
  "permission",
  "role",
  "environment",
  "tags",
];

/** Filters that are instants, ms in the address and days in the form. */
export const DAY_FILTERS = [
  ["expiresAfter", "Expires on or after"],
  ["expiresBefore", "Expires before"],
  ["usedAfter", "Used since"],
  ["usedBefore", "Not used since"],
  ["createdAfter", "Created since"],
  ["createdBefore", "Created before"],
] as const;

/** All filters, and the order. */
export const FILTER_NAMES = [...TEXT_FILTERS, ...DAY_FILTERS.map(([name]) => name), "order"];

/** The filters in the address as input of listKeys. */
export function filtersOf(
  query: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const given = FILTER_NAMES.filter((name) => name !== "order" && query[name]);
  const [orderBy, order] = (query.order ?? "").split(" ");
  return {
    ...Object.fromEntries(given.map((name) => [name, query[name] ?? ""])),
    ...(orderBy && order && { orderBy, order }),
  };
}
