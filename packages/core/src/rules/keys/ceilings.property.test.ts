import fc from "fast-check";
import { expect, test } from "vitest";
import { HeldPermissions } from "../permission.js";
import { belowCeiling } from "./ceilings.js";

const word = fc.constantFrom("a", "b");
const name = fc
  .tuple(fc.array(word, { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([words, isWildcard]) => [...words, ...(isWildcard ? ["*"] : [])].join("."));
const names = fc.array(fc.oneof({ weight: 9, arbitrary: name }, fc.constant("*")), {
  maxLength: 5,
});

test("below a ceiling, a key has exactly the permissions that both its roles and the ceiling grant", () => {
  fc.assert(
    fc.property(names, names, name, (granted, ceiling, wanted) => {
      const [roles, allowed] = [new HeldPermissions(granted), new HeldPermissions(ceiling)];
      const held = new HeldPermissions(belowCeiling(granted, ceiling));
      expect(held.grant(wanted)).toBe(roles.grant(wanted) && allowed.grant(wanted));
    }),
  );
});
