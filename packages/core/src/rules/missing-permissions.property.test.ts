import fc from "fast-check";
import { expect, test } from "vitest";
import {
  HeldPermissions,
  isSatisfied,
  missingPermissions,
  type PermissionQuery,
} from "./permission.js";

const name = fc.constantFrom("a", "b", "c", "d.e", "d.f", "g");
const { query } = fc.letrec<{ query: PermissionQuery }>((tie) => ({
  query: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    name,
    fc.array(tie("query"), { minLength: 1, maxLength: 3 }).map((and) => ({ and })),
    fc.array(tie("query"), { minLength: 1, maxLength: 3 }).map((or) => ({ or })),
  ),
}));
const heldNames = fc.subarray(["a", "b", "c", "d.*", "g"]);
const held = heldNames.map((names) => new HeldPermissions(names));

function namesIn(wanted: PermissionQuery): string[] {
  if (typeof wanted === "string") return [wanted];
  return ("and" in wanted ? wanted.and : wanted.or).flatMap(namesIn);
}

test("something is missing exactly if the query is not satisfied", () => {
  fc.assert(
    fc.property(query, held, (wanted, having) => {
      expect(missingPermissions(wanted, having) === null).toBe(isSatisfied(wanted, having));
    }),
    { numRuns: 500 },
  );
});

test("permissions that also satisfy the missing part satisfy the whole query", () => {
  fc.assert(
    fc.property(
      query,
      heldNames,
      fc.subarray(["a", "b", "c", "d.e", "d.f", "g"]),
      (wanted, names, more) => {
        const missing = missingPermissions(wanted, new HeldPermissions(names));
        fc.pre(missing !== null);
        const all = new HeldPermissions([...names, ...more]);
        expect(isSatisfied(wanted, all)).toBe(isSatisfied(missing as PermissionQuery, all));
      },
    ),
    { numRuns: 1_000 },
  );
});

test("no held permission is reported as missing", () => {
  fc.assert(
    fc.property(query, held, (wanted, having) => {
      const missing = missingPermissions(wanted, having);
      for (const text of missing === null ? [] : namesIn(missing))
        expect(isSatisfied(text, having)).toBe(false);
    }),
    { numRuns: 500 },
  );
});
