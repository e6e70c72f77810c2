import fc from "fast-check";
import { expect, test } from "vitest";
import { EXPORT_FORMATS, exportHeader, exportText } from "./export-format.js";
import type { ExportedKey } from "./exported-key.js";
import { openSource } from "./open-source.js";
import { hashOf, inPieces, NOON } from "./testing/imports.js";

const text = fc.string({ minLength: 1, maxLength: 20, unit: "binary" });

/** JSON has no negative zero. */
const meta = fc
  .dictionary(text, fc.jsonValue(), { noNullPrototype: true })
  .map((value): never => JSON.parse(JSON.stringify(value)) as never);

const exportedKey: fc.Arbitrary<ExportedKey> = fc.record(
  {
    hash: text.map((secret) => ({
      value: hashOf(secret, "base64url"),
      variant: "sha256_base64url",
    })),
    id: fc.constant("key_1"),
    apiId: fc.constant("api_1"),
    api: text,
    createdAt: fc.nat().map((ms) => NOON + ms),
    enabled: fc.boolean(),
    name: text,
    externalId: text,
    environment: text,
    meta,
    permissions: fc.array(text, { minLength: 1 }),
    remaining: fc.nat(),
    refill: fc.record(
      {
        interval: fc.oneof(fc.constant("daily"), fc.record({ every: fc.nat() })),
        amount: fc.nat(),
        carryOver: fc.nat(),
      },
      { requiredKeys: ["interval", "amount"] },
    ),
  },
  { requiredKeys: ["hash", "id", "apiId", "api", "createdAt", "enabled"] },
) as fc.Arbitrary<ExportedKey>;

test("an import reads back an export with any texts", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(exportedKey, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(...EXPORT_FORMATS),
      async (keys, format) => {
        const written = exportHeader(format) + exportText(format, keys);
        const read = [];
        for await (const row of openSource(format, inPieces(written)).rows) read.push(row);
        expect(read.map(({ key, api, issues }) => ({ ...key, api, issues }))).toEqual(
          keys.map(({ id: _id, ...key }) => ({ ...key, issues: [] })),
        );
      },
    ),
    { numRuns: 40 },
  );
});
