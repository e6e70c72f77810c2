import fc from "fast-check";
import { type Recipe, revive } from "./values.js";

/** A replacement at one place of a value. */
export interface ValueChange {
  /** Index of the place in the order of {@link placesIn}, modulo the number of places. */
  readonly place: number;
  readonly to: Recipe;
}

export const changesOf = (
  recipe: fc.Arbitrary<Recipe>,
  most = 3,
): fc.Arbitrary<readonly ValueChange[]> =>
  fc.array(fc.record({ place: fc.nat(10_000), to: recipe }), { minLength: 1, maxLength: most });

type Place = readonly (string | number)[];

/** Every place of a value: the value itself, its fields and items at all levels, and one additional field of each object. */
function placesIn(value: unknown, path: Place = []): Place[] {
  if (typeof value !== "object" || value === null) return [path];
  const inner = Object.entries(value).flatMap(([name, item]) => placesIn(item, [...path, name]));
  return [path, ...inner, [...path, Array.isArray(value) ? value.length : "unknownField"]];
}

/** A copy with changes, and the changed top-level fields; `null` stands for the whole value. */
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

/** The object that contains a place; null if an earlier change replaced it, because hostile values are not traversed. */
function holderOf(root: object, path: Place, hostile: ReadonlySet<unknown>) {
  let holder: unknown = root;
  for (const name of path.slice(0, -1)) {
    holder = (holder as Record<string, unknown>)[name];
    if (typeof holder !== "object" || holder === null || hostile.has(holder)) return null;
  }
  return holder as Record<string, unknown>;
}
