import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonValue } from "../lib/json.js";
import { ARBITRARY_RECORDS } from "../testing/arbitrary-records.js";
import { RECORD_KINDS, type StoredRecord } from "./record-type.js";

const WORKSPACE_ID = "ws_default";

type Body = Readonly<Record<string, JsonValue>>;

/** Values of each JSON kind other than that of `value`: no member of a body may be mistaken for another kind. */
const otherThan = (value: JsonValue | undefined): readonly JsonValue[] => {
  const all: readonly JsonValue[] = [null, true, 7, "text", [7], { member: 7 }];
  const shape = (one: unknown) =>
    one === null ? "null" : Array.isArray(one) ? "list" : typeof one;
  return all.filter((one) => shape(one) !== shape(value));
};

function isFrozen(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozen);
}

/** A copy with something else in one place, at most this deep. */
function damagedAt(value: JsonValue, place: number, to: JsonValue, depth: number): JsonValue {
  if (typeof value !== "object" || value === null || depth === 0) return to;
  const names = Object.keys(value);
  const name = names[place % names.length];
  if (name === undefined) return to;
  const inner = (value as Readonly<Record<string, JsonValue>>)[name] as JsonValue;
  const after = damagedAt(inner, Math.floor(place / names.length), to, depth - 1);
  if (Array.isArray(value)) return value.with(Number(name), after);
  return { ...(value as object), [name]: after };
}

test("every kind of record is tested here", () => {
  expect(ARBITRARY_RECORDS.map(({ name }) => name).sort()).toEqual([...RECORD_KINDS].sort());
});

describe.each(ARBITRARY_RECORDS)("a record of kind $name", ({ type: own, record }) => {
  // As stores return it: they give entries of the audit log their versions.
  const encode = (value: unknown) => ({
    ...own.encode(value),
    ...(own.kind === "auditEntry" && { version: 2 }),
  });
  const type = { ...own, encode };
  const decode = (stored: StoredRecord) => type.decode(stored, WORKSPACE_ID);
  const withBody = (value: unknown, change: (body: Body) => JsonValue | undefined) => {
    const stored = type.encode(value);
    return { ...stored, body: change(stored.body as Body) };
  };
  const corrupt = expect.objectContaining({ code: "STORE_CORRUPT" });
  /** Expects a record to be damaged with each of the other values that a member may not have. */
  const isDamagedBy = (others: (held: JsonValue | undefined) => readonly JsonValue[]) =>
    fc.assert(
      fc.property(record, (value) => {
        for (const [member, held] of Object.entries(type.encode(value).body as Body))
          for (const other of others(held))
            expect(() => decode(withBody(value, (kept) => ({ ...kept, [member]: other })))).toThrow(
              corrupt,
            );
      }),
      { numRuns: 30 },
    );

  test("is read as it was written, also through the text of a store", () => {
    fc.assert(
      fc.property(record, (value) => {
        const stored = type.encode(value);
        expect(decode(stored)).toEqual(value);
        const body = JSON.parse(JSON.stringify(stored.body)) as JsonValue;
        expect(decode({ ...stored, body })).toEqual(value);
      }),
    );
  });

  test("has a body that text can hold, and only members with a value", () => {
    fc.assert(
      fc.property(record, (value) => {
        const body = type.encode(value).body as Body;
        expect(JSON.parse(JSON.stringify(body))).toEqual(body);
        for (const member of Object.values(body)) expect(member ?? null).not.toBeNull();
        expect(body).not.toHaveProperty("format");
      }),
    );
  });

  test("is frozen both as stored and as read: no holder can change it for others", () => {
    fc.assert(
      fc.property(record, (value) => {
        const stored = type.encode(value);
        expect(isFrozen(stored.body)).toBe(true);
        const body = JSON.parse(JSON.stringify(stored.body)) as JsonValue;
        expect(isFrozen(decode({ ...stored, body }))).toBe(true);
      }),
    );
  });

  test("that a store returns again is the same value, for that workspace and no other", () => {
    fc.assert(
      fc.property(record, (value) => {
        const stored = type.encode(value);
        Object.defineProperty(stored, "memo", { value: undefined, writable: true });
        const first = decode(stored);
        expect(first).toEqual(value);
        // A workspace is named by its own id, and a pointer names the workspace that it leads to: these two are decoded each time.
        const { workspaceId } = first as { readonly workspaceId?: string };
        if (workspaceId === WORKSPACE_ID) expect(decode(stored)).toBe(first);
        expect(decode(stored)).toEqual(value);
        const elsewhere = type.decode(type.encode(value), "ws_2");
        expect(type.decode(stored, "ws_2")).toEqual(elsewhere);
        expect(decode(stored)).toEqual(value);
        const body = JSON.parse(JSON.stringify(stored.body)) as JsonValue;
        expect(decode({ ...stored, body, version: stored.version + 1 })).toEqual(
          decode({ ...type.encode(value), version: stored.version + 1 }),
        );
      }),
    );
  });

  test("is damaged if any member has another kind of value", () => {
    isDamagedBy(otherThan);
  });

  test("is damaged if a number is negative, a fraction or beyond 2^53 - 1", () => {
    isDamagedBy((held) => (typeof held === "number" ? [-1, 0.5, 2 ** 53] : []));
  });

  test("is damaged if a list of texts holds anything else", () => {
    isDamagedBy((held) =>
      Array.isArray(held) && typeof held[0] === "string" ? [[...held, 7]] : [],
    );
  });

  test("without one of its members is another record or a damaged one, never an internal error", () => {
    fc.assert(
      fc.property(record, (value) => {
        const body = type.encode(value).body as Body;
        for (const member of Object.keys(body)) {
          const { [member]: _, ...rest } = body;
          const read = () => decode(withBody(value, () => rest));
          try {
            expect(read()).not.toEqual(value);
          } catch (error) {
            expect(error).toEqual(corrupt);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  test("that is damaged anywhere is refused, or is a record that can be written and read again", () => {
    const damage = fc.tuple(fc.nat(), fc.jsonValue({ maxDepth: 2 }), fc.nat(3));
    fc.assert(
      fc.property(record, fc.array(damage, { minLength: 1, maxLength: 3 }), (value, damages) => {
        let body = JSON.parse(JSON.stringify(type.encode(value).body)) as JsonValue;
        for (const [place, to, depth] of damages)
          body = damagedAt(body, place, to as JsonValue, depth);
        let read: unknown;
        try {
          read = decode({ ...type.encode(value), body });
        } catch (error) {
          expect(error).toEqual(corrupt);
          return;
        }
        expect(decode(type.encode(read))).toEqual(read);
      }),
      { numRuns: 350 * Number(process.env.LATCHKEY_FUZZ_RUNS ?? "1") },
    );
  });

  test.each([[undefined], [null], [7], ["text"], [[]], [true]])(
    "is damaged if its body is %j",
    (body) => {
      fc.assert(
        fc.property(record, (value) => {
          expect(() => decode(withBody(value, () => body))).toThrow(corrupt);
        }),
        { numRuns: 5 },
      );
    },
  );

  test.each([
    { format: 0, isRead: false },
    { format: 1, isRead: true },
    { format: 2, isRead: false },
    { format: "1", isRead: false },
  ])(
    "of format $format is read: $isRead; one that a later version wrote never is",
    ({ format, isRead }) => {
      fc.assert(
        fc.property(record, (value) => {
          const stored = withBody(value, (body) => ({ ...body, format }));
          if (isRead) expect(decode(stored)).toEqual(value);
          else expect(() => decode(stored)).toThrow(corrupt);
        }),
        { numRuns: 5 },
      );
    },
  );

  test("may have members that this version does not know, and a changed record has them too", () => {
    fc.assert(
      fc.property(record, (value) => {
        const stored = withBody(value, (body) => ({ ...body, addedLater: [{ a: 1 }] }));
        const read = decode(stored) as object;
        expect(read).toMatchObject(value as object);
        expect(JSON.stringify(read)).toBe(JSON.stringify(decode(type.encode(value))));
        expect(type.encode({ ...read } as never)).toEqual(stored);
      }),
      { numRuns: 20 },
    );
  });

  test("is damaged if a member that this version does not know is nested too deep", () => {
    const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`) as JsonValue;
    fc.assert(
      fc.property(record, (value) => {
        expect(() => decode(withBody(value, (body) => ({ ...body, deep })))).toThrow(corrupt);
      }),
      { numRuns: 1 },
    );
  });

  test("is damaged at version 0, which means that the store could not read it", () => {
    fc.assert(
      fc.property(record, (value) => {
        const stored = type.encode(value);
        expect(stored.version).toBeGreaterThanOrEqual(1);
        expect(() => decode({ ...stored, version: 0 })).toThrow(corrupt);
      }),
      { numRuns: 5 },
    );
  });

  test("that is damaged is named by kind and id, and nothing of its content is shown", () => {
    fc.assert(
      fc.property(record, (value) => {
        const stored = withBody(value, () => "the content");
        const read = () => decode(stored);
        expect(read).toThrow(`the stored ${type.kind} ${stored.id} is damaged`);
        expect(read).not.toThrow("the content");
      }),
      { numRuns: 5 },
    );
  });
});
