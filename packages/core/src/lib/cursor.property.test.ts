import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeCursor, encodeCursor, type ListScope } from "./cursor.js";

const ownerId = fc.string({ unit: fc.constantFrom(..."ab12_-"), minLength: 1, maxLength: 8 });
const scope: fc.Arbitrary<ListScope> = fc.record({
  list: fc.constantFrom("keys", "identities"),
  ownerId,
});
const lastId = fc
  .tuple(
    fc.constantFrom("key", "id"),
    fc.string({ unit: fc.constantFrom(..."aZ19"), minLength: 1, maxLength: 26 }),
  )
  .map((parts) => parts.join("_"));

test("a cursor is read by the list it was written for, and by no other", () => {
  fc.assert(
    fc.property(scope, scope, lastId, (from, to, id) => {
      const isSameList = from.list === to.list && from.ownerId === to.ownerId;
      expect(decodeCursor(to, encodeCursor(from, id))).toBe(isSameList ? id : null);
    }),
    { numRuns: 300 },
  );
});

test("a text that is read as a cursor is exactly the text that is written for it, or was by earlier versions", () => {
  const text = fc.oneof(
    fc.string(),
    fc
      .tuple(fc.constantFrom("1", "2", "\ufeff1", "01"), scope, fc.oneof(lastId, fc.string()))
      .map(([version, of, id]) =>
        Buffer.from([version, of.list, of.ownerId, id].join(":")).toString("base64url"),
      ),
  );
  fc.assert(
    fc.property(scope, text, (of, given) => {
      const id = decodeCursor(of, given);
      if (id === null) return;
      const earlier = Buffer.from(`1:${of.list}:${of.ownerId}:${id}`).toString("base64url");
      expect([encodeCursor(of, id), earlier]).toContain(given);
    }),
    { numRuns: 300 },
  );
});
