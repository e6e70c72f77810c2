import { describe, expect, test } from "vitest";
import { corruptRecord, isCorruptRecord, LatchkeyError } from "../errors.js";
import { keyType } from "../records/key.js";
import { keyWith } from "../testing/records.js";
import { decodeOrNull, withoutReadableRecord } from "./damaged.js";

const stored = keyType.encode(keyWith());

describe("damage", () => {
  test("is an error that says so, unlike any other error", () => {
    expect(isCorruptRecord(corruptRecord("key key_1"))).toBe(true);
    for (const error of [new LatchkeyError("NOT_FOUND", "no such key"), new Error("x"), null])
      expect(isCorruptRecord(error)).toBe(false);
  });

  test("of a record reads as null; other errors are thrown", () => {
    expect(decodeOrNull(keyType, stored, { workspaceId: "ws_default" })).toEqual(keyWith());
    expect(
      decodeOrNull(keyType, { ...stored, body: undefined }, { workspaceId: "ws_default" }),
    ).toBeNull();
    const broken = {
      ...keyType,
      decode: () => {
        throw new Error("broken");
      },
    };
    expect(() => decodeOrNull(broken, stored, { workspaceId: "ws_default" })).toThrow("broken");
  });
});

describe("revoking", () => {
  const damaged = () => Promise.reject(corruptRecord("key key_1"));

  test("goes the usual way if the record can be read", async () => {
    const result = await withoutReadableRecord(
      async () => "usual",
      async () => "without",
    );
    expect(result).toBe("usual");
  });

  test("does without the record if it is damaged", async () => {
    expect(await withoutReadableRecord(damaged, async () => "without")).toBe("without");
  });

  test("fails as usual for every other reason", async () => {
    const missing = () => Promise.reject(new LatchkeyError("NOT_FOUND", "no such key"));
    await expect(withoutReadableRecord(missing, async () => "without")).rejects.toThrow(
      "no such key",
    );
  });
});
