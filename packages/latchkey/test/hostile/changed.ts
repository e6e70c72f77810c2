import fc from "fast-check";
import { type Recipe, revive } from "./values.js";

/** Something else in one place of a value. */
export interface ValueChange {
  /** Which of its places, counted through as {@link placesIn} does; the rest of the division by how many there are. */
  readonly place: number;
  readonly to: Recipe;
}

export const changesOf = (
  recipe: fc.Arbitrary<Recipe>,
  most = 3,
): fc.Arbitrary<readonly ValueChange[]> =>
  fc.array(fc.record({ place: fc.nat(10_000), to: recipe }), { minLength: 1, maxLength: most });

type Place = readonly (string | number)[];

/** Every place of a value: itself, its fields and items and theirs, and a field more of each object. */
function placesIn(value: unknown, path: Place = []): Place[] {
  if (typeof value !== "object" || value === null) return [path];
  const inner = Object.entries(value).flatMap(([name, item]) => placesIn(item, [...path, name]));
  return [path, ...inner, [...path, Array.isArray(value) ? value.length : "unknownField"]];
}

/** A copy with changes, and the fields at the top that were changed; `null` for the whole. */
export function changed(value: unknown, changes: readonly ValueChange[]) {
  const places = placesIn(value);
  const root = { whole: structuredClone(value) };
  const hostile = new Set<unknown>();
  const fields: (string | null)[] = [];
  for (const { place, to } of changes) {
    const path = places[place % places.length] ?? [];
    const holder = holderOf(root, ["whole", ...path], hostile);
    if (holder === null) continue;
    const replacement = revive(to);
    hostile.add(replacement);
    holder[path.at(-1) ?? "whole"] = replacement;
    fields.push(path.length === 0 ? null : String(path[0]));
  }
  return { value: root.whole, fields };
}

/** The object that has a place; null where an earlier change took it away: what is hostile is not looked into. */
function holderOf(root: object, path: Place, hostile: ReadonlySet<unknown>) {
  let holder: unknown = root;
  for (const name of path.slice(0, -1)) {
    holder = (holder as Record<string, unknown>)[name];
    if (typeof holder !== "object" || holder === null || hostile.has(holder)) return null;
  }
  return holder as Record<string, unknown>;
}
