import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { LatchkeyError } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { backup } from "./backup.js";
import { restore } from "./restore.js";
import { fill, latchkeyOn } from "./testing/fixture.js";
import { sealed } from "./testing/sealed.js";

const folder = mkdtempSync(join(tmpdir(), "latchkey-hostile-"));
let files = 0;
let lines: readonly string[] = [];

/** The error with which a restore refuses these bytes, and the processor time it took, in ms. */
async function refusal(bytes: Buffer, decryption?: { readonly passphrase: string }) {
  const path = join(folder, `${files++}.lkb`);
  writeFileSync(path, bytes);
  const to = memoryStore();
  const before = process.cpuUsage();
  const error: unknown = await restore(to, path, decryption && { decryption }).then(
    () => null,
    (reason: unknown) => reason,
  );
  const { user, system } = process.cpuUsage(before);
  rmSync(path);
  return { error, ms: (user + system) / 1_000, to };
}

/** Undefined for text that is not JSON. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

beforeAll(async () => {
  const store = memoryStore();
  await fill(store);
  await latchkeyOn(store).createWorkspace({ name: "made" });
  const counts = ["key_gone", "key_lost"].map((id) => {
    return { subject: { kind: "key", id }, hourAt: 7_200_000, code: "VALID", count: 3 } as const;
  });
  await store.addStatistics("ws_default", { counts, uses: [] });
  const path = join(folder, "whole.lkb");
  await backup(store, path);
  lines = gunzipSync(readFileSync(path)).toString().split("\n").slice(0, -2);
});

afterAll(() => rmSync(folder, { recursive: true }));

const MB = 1_000_000;
const HEADER = JSON.stringify({ format: "latchkey-backup", version: 1, createdAt: 1 });
const WORKSPACE = JSON.stringify({ workspace: "ws_default" });

describe("text that no backup has", () => {
  test.each<[string, () => Buffer, string]>([
    [
      "a first line without end",
      () => Buffer.alloc(20 * MB, "x"),
      "line 1 is longer than 16777216 bytes",
    ],
    [
      "a line without end",
      () => Buffer.from(`${HEADER}\n${"x".repeat(20 * MB)}`),
      "line 2 is longer than 16777216 bytes",
    ],
    [
      "a line of 10 MB",
      () => Buffer.from(`${HEADER}\n${"x".repeat(10 * MB)}\n`),
      "line 2 is damaged",
    ],
    [
      "nesting",
      () => Buffer.from(`${HEADER}\n${"[".repeat(MB)}${"]".repeat(MB)}\n`),
      "line 2 is nested more than 64 levels deep",
    ],
    [
      "nesting in a member",
      () => Buffer.from(`${HEADER}\n{"body":${"[".repeat(MB)}${"]".repeat(MB)}}\n`),
      "line 2 is nested more than 64",
    ],
    ["empty lines", () => Buffer.from(`${HEADER}\n${"\n".repeat(2 * MB)}`), "line 2 is damaged"],
    [
      "one workspace again and again",
      () => Buffer.from(`${HEADER}\n${`${WORKSPACE}\n`.repeat(300_000)}`),
      "line 3: a workspace appears twice",
    ],
    [
      "one list again and again",
      () =>
        Buffer.from(`${HEADER}\n${WORKSPACE}\n${'{"list":"api","of":"api"}\n'.repeat(300_000)}`),
      "line 4: a list appears twice",
    ],
    [
      "one window again and again",
      () =>
        Buffer.from(
          `${HEADER}\n${WORKSPACE}\n${'{"window":"n:1000:x","startedAt":1000,"used":1}\n'.repeat(200_000)}`,
        ),
      "line 4: a window appears twice",
    ],
  ])(
    "%s is refused by line number, in about the time that parsing takes",
    async (_name, text, message) => {
      const packed = gzipSync(text());
      const before = process.cpuUsage();
      for (const line of gunzipSync(packed).toString().split("\n").slice(0, 3))
        parsed(line.replaceAll("[", " "));
      const { user, system } = process.cpuUsage(before);
      const { error, ms, to } = await refusal(packed);
      expect(error).toMatchObject({
        code: "PRECONDITION_FAILED",
        message: expect.stringContaining(message),
      });
      expect(await to.scan(null, null)).toEqual({ names: [], next: null });
      // When each piece of a long line was searched from the start, 97 kB that unpack to 100 MB took hundreds of times as long.
      expect(ms).toBeLessThan(10 * ((user + system) / 1_000) + 1_000);
    },
  );

  test.each([
    ["a header without end", `age-encryption.org/v1\n-> ${"x".repeat(10 * MB)}`],
    [
      "a header of many recipients",
      `age-encryption.org/v1\n${`-> X25519 ${"A".repeat(43)}\n${"A".repeat(43)}\n`.repeat(100_000)}`,
    ],
  ])("in %s of an encrypted file is refused before any decryption", async (_name, text) => {
    const { error } = await refusal(Buffer.from(text), { passphrase: "tiles and maps" });
    expect(error).toMatchObject({ message: expect.stringContaining("longer than 262144 bytes") });
  });
});

test.each([
  '{"list":"orbits:x","of":"orbit"}',
  '{"kind":"orbit","id":"orb_1","version":1,"body":{}}',
  '{"counted":"orb_1","of":"orbit","sums":[[0,"VALID",1]]}',
])(
  "a line of a kind that only a newer version has is not only called damaged: %s",
  async (line) => {
    const workspace = '{"workspace":"ws_default"}';
    const { error } = await refusal(gzipSync(`${HEADER}\n${workspace}\n${line}\n`));
    expect(error).toMatchObject({
      code: "PRECONDITION_FAILED",
      message: expect.stringContaining("line 3 is damaged, or a newer latchkey wrote it"),
    });
  },
);

test("a line of 150 MB, packed into 150 kB, is not unpacked beyond the bound", async () => {
  const packed = gzipSync(Buffer.alloc(150 * MB, "x"));
  const before = process.memoryUsage();
  let most = 0;
  const timer = setInterval(() => {
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    most = Math.max(most, heapUsed - before.heapUsed + arrayBuffers - before.arrayBuffers);
  }, 1);
  const { error } = await refusal(packed).finally(() => clearInterval(timer));
  expect(error).toMatchObject({ message: expect.stringContaining("line 1 is longer than") });
  expect(most).toBeLessThan(100 * MB);
});

describe("a forged file", () => {
  /** The lines with some of them changed. */
  const changed = (change: (fields: Record<string, unknown>) => Record<string, unknown> | null) =>
    sealed(
      lines.flatMap((line) => {
        const fields = change(JSON.parse(line) as Record<string, unknown>);
        return fields === null ? [] : [JSON.stringify(fields)];
      }),
    );

  let keyId: unknown;
  /** Claims an existing key as the subject of sums of deleted ones. */
  const withCountedKey = (fields: Record<string, unknown>) => {
    if (fields.kind === "key") keyId = fields.id;
    return "counted" in fields ? { ...fields, counted: keyId } : fields;
  };

  test.each<[string, (fields: Record<string, unknown>) => Record<string, unknown> | null]>([
    [
      "a rotated key without counters",
      ({ usage, ...rest }) => ({
        ...rest,
        ...(!JSON.stringify(rest).includes("sharedCountersId") && usage ? { usage } : {}),
      }),
    ],
    [
      "a role with counters",
      (fields) => (fields.kind === "role" ? { ...fields, usage: [1, 0, null] } : fields),
    ],
    [
      "a window that no limit has",
      (fields) => (fields.kind === "key" ? { ...fields, windows: [["n:1:a", 1, 1]] } : fields),
    ],
    [
      "a window that begins between two edges",
      (fields) =>
        "window" in fields ? { ...fields, startedAt: Number(fields.startedAt) + 1 } : fields,
    ],
    [
      "a list that is none",
      (fields) => ("list" in fields ? { ...fields, list: `${fields.list}x` } : fields),
    ],
    [
      "a log that ends beyond all numbers",
      (fields) => (fields.of === "auditEntry" ? { ...fields, last: 2 ** 53 - 1 } : fields),
    ],
    [
      "an end of what is no log",
      (fields) => (fields.of === "role" ? { ...fields, last: 2 } : fields),
    ],
    [
      "records in another list",
      (fields) =>
        "list" in fields && fields.of === "role"
          ? { list: "permission", of: "permission" }
          : fields,
    ],
    [
      "records out of order",
      (fields) => (fields.kind === "auditEntry" ? { ...fields, id: "evt_1" } : fields),
    ],
    [
      "a workspace with the record of another",
      (fields) => (fields.kind === "workspace" ? { ...fields, id: "ws_elsewhere" } : fields),
    ],
    [
      "an id of a workspace that is none",
      (fields) => ("workspace" in fields ? { workspace: "../etc" } : fields),
    ],
    [
      "sums of half an hour",
      (fields) => ("sums" in fields ? { ...fields, sums: [[1, "VALID", 1]] } : fields),
    ],
    [
      "sums twice",
      (fields) =>
        "sums" in fields
          ? {
              ...fields,
              sums: [
                [0, "VALID", 1],
                [0, "VALID", 1],
              ],
            }
          : fields,
    ],
    [
      "sums of what was deleted on two days in one line",
      (fields) =>
        "counted" in fields
          ? {
              ...fields,
              sums: [
                [0, "VALID", 1],
                [86_400_000, "VALID", 1],
              ],
            }
          : fields,
    ],
    [
      "no sums of what was deleted",
      (fields) => ("counted" in fields ? { ...fields, sums: [] } : fields),
    ],
    [
      "sums of what was deleted, of a kind that is not counted",
      (fields) => ("counted" in fields ? { ...fields, of: "role" } : fields),
    ],
    [
      "sums of what was deleted, twice",
      (fields) => ("counted" in fields ? { ...fields, counted: "key_gone" } : fields),
    ],
    ["sums of what was deleted, which is there", withCountedKey],
  ])("with %s is refused before anything is written", async (_name, change) => {
    const bytes = changed(change);
    expect(gunzipSync(bytes)).not.toEqual(gunzipSync(sealed(lines)));
    const { error, to } = await refusal(bytes);
    expect(error).toMatchObject({ code: "PRECONDITION_FAILED" });
    expect(await to.scan(null, null)).toEqual({ names: [], next: null });
  });

  test("is accepted or refused with a LatchkeyError, however it was changed", async () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(-1, 0, 1, 2 ** 53, "ws_default", "key", null, [], {}, "__proto__"),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.tuple(
            fc.nat(),
            fc.nat(),
            fc.constantFrom("drop", "twice", "swap", "member", "body"),
            value,
          ),
          { minLength: 1, maxLength: 3 },
        ),
        async (changes) => {
          const text = lines.slice();
          for (const [at, member, kind, wanted] of changes) {
            const place = 1 + (at % (text.length - 1));
            const line = text[place] as string;
            const fields = JSON.parse(line) as Record<string, unknown>;
            const inside =
              kind === "body" && typeof fields.body === "object"
                ? (fields.body as Record<string, unknown>)
                : fields;
            const names = Object.keys(inside ?? {});
            if (kind === "drop") text.splice(place, 1);
            else if (kind === "twice") text.splice(place, 0, line);
            else if (kind === "swap") text.push(...text.splice(place, 1));
            else {
              inside[names[member % names.length] as string] = wanted;
              text[place] = JSON.stringify(fields);
            }
          }
          const { error } = await refusal(sealed(text));
          if (error !== null) expect(error).toBeInstanceOf(LatchkeyError);
        },
      ),
      { numRuns: 60 * Number(process.env.LATCHKEY_FUZZ_RUNS ?? "1") },
    );
  });
});
