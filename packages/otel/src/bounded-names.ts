import { OTHER } from "./names.js";

/**
 * Limits the values of a label: the first `max` names are returned unchanged, all others as `other`. The result for a name never
 * changes.
 *
 * @param max - A whole number >= 0.
 */
export function createBoundedNames(max: number): (name: string) => string {
  const known = new Set<string>();
  return (name) => {
    if (known.has(name)) return name;
    if (known.size >= max) return OTHER;
    known.add(name);
    return name;
  };
}
