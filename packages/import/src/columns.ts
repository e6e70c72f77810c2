/** The columns of a row by name, as its file has them. */
export type Columns = Readonly<Record<string, unknown>>;

/** Whether a value is an object, and not a list. */
export function isObject(value: unknown): value is Columns {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
