import { OTHER } from "./names.js";

/**
 * Keeps the values of a label few: the first `max` names that come are answered as they are, every other one as `other`. What a
 * name was once answered as, it stays.
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
