import fc from "fast-check";
import { expect, test } from "vitest";
import {
  doesGrant,
  HeldPermissions,
  isSatisfied,
  missingPermissions,
  type PermissionQuery,
} from "./permission.js";

const name = fc
  .array(fc.constantFrom("a", "b", "ab", "*"), { minLength: 1, maxLength: 4 })
  .map((segments) => segments.join("."));
const names = fc.array(name, { maxLength: 4 });

/** Queries of such names. */
const queryOf = (name: fc.Arbitrary<string>) =>
  fc.letrec<{ query: PermissionQuery }>((tie) => ({
    query: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      name,
      fc.record({ and: fc.array(tie("query"), { minLength: 1, maxLength: 3 }) }),
      fc.record({ or: fc.array(tie("query"), { minLength: 1, maxLength: 3 }) }),
    ),
  })).query;
const query = queryOf(name);

/** The rule as a comparison of segments: a last segment `*` stands for one or more segments. */
function naiveGrants(held: string, wanted: string): boolean {
  const [heldSegments, wantedSegments] = [held.split("."), wanted.split(".")];
  if (heldSegments.at(-1) !== "*") return held === wanted;
  const fixed = heldSegments.slice(0, -1);
  const beginsAlike = fixed.every((segment, index) => segment === wantedSegments[index]);
  return beginsAlike && wantedSegments.length > fixed.length;
}

/** The query as a formula over truth values, evaluated by the engine. */
function naiveSatisfied(wanted: PermissionQuery, held: readonly string[]): boolean {
  const formula = (part: PermissionQuery): string => {
    if (typeof part === "string")
      return String(held.some((permission) => naiveGrants(permission, part)));
    return "and" in part
      ? `(${part.and.map(formula).join("&&")})`
      : `(${part.or.map(formula).join("||")})`;
  };
  return new Function(`return ${formula(wanted)}`)() as boolean;
}

test("what one permission grants is what comparing segment by segment says", () => {
  fc.assert(
    fc.property(name, name, (held, wanted) => {
      expect(doesGrant(held, wanted)).toBe(naiveGrants(held, wanted));
    }),
    { numRuns: 1_000 },
  );
});

test("a query is answered as the same formula over truth values", () => {
  fc.assert(
    fc.property(query, names, (wanted, held) => {
      expect(isSatisfied(wanted, new HeldPermissions(held))).toBe(naiveSatisfied(wanted, held));
    }),
    { numRuns: 1_000 },
  );
});

test("holding more permissions never satisfies less", () => {
  fc.assert(
    fc.property(query, names, names, (wanted, held, more) => {
      if (isSatisfied(wanted, new HeldPermissions(held)))
        expect(isSatisfied(wanted, new HeldPermissions([...held, ...more]))).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("* satisfies every query, and nothing satisfies none", () => {
  fc.assert(
    fc.property(query, (wanted) => {
      expect(isSatisfied(wanted, new HeldPermissions(["*"]))).toBe(true);
      expect(isSatisfied(wanted, new HeldPermissions([]))).toBe(false);
    }),
  );
});

test("granting is transitive: who may grant a permission may do what it grants", () => {
  fc.assert(
    fc.property(name, name, name, (first, second, third) => {
      if (doesGrant(first, second) && doesGrant(second, third))
        expect(doesGrant(first, third)).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

const letters = ["a", "b", "c", "d.e", "d.f", "g"];
const letter = fc.constantFrom(...letters);
const letterQuery = queryOf(letter);
const heldNames = fc.subarray(["a", "b", "c", "d.*", "g"]);
const held = heldNames.map((names) => new HeldPermissions(names));

function namesIn(wanted: PermissionQuery): string[] {
  if (typeof wanted === "string") return [wanted];
  return ("and" in wanted ? wanted.and : wanted.or).flatMap(namesIn);
}

test("something is missing exactly if the query is not satisfied", () => {
  fc.assert(
    fc.property(letterQuery, held, (wanted, having) => {
      expect(missingPermissions(wanted, having) === null).toBe(isSatisfied(wanted, having));
    }),
    { numRuns: 500 },
  );
});

test("permissions that also satisfy the missing part satisfy the whole query", () => {
  fc.assert(
    fc.property(letterQuery, heldNames, fc.subarray(letters), (wanted, names, more) => {
      const missing = missingPermissions(wanted, new HeldPermissions(names));
      fc.pre(missing !== null);
      const all = new HeldPermissions([...names, ...more]);
      expect(isSatisfied(wanted, all)).toBe(isSatisfied(missing as PermissionQuery, all));
    }),
    { numRuns: 1_000 },
  );
});

test("no held permission is reported as missing", () => {
  fc.assert(
    fc.property(letterQuery, held, (wanted, having) => {
      const missing = missingPermissions(wanted, having);
      for (const text of missing === null ? [] : namesIn(missing))
        expect(isSatisfied(text, having)).toBe(false);
    }),
    { numRuns: 500 },
  );
});
