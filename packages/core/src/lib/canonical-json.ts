/** One text per JSON value, whatever the order of its fields. It recurses into each level: check with `isDeeperThan` first. */
export function canonicalJson(value: unknown): string {
  if (value instanceof Date) return String(value.getTime());
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join()}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    members.sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join()}}`;
  }
  return ["string", "number", "boolean"].includes(typeof value) || value === null
    ? JSON.stringify(value)
    : typeof value;
}
