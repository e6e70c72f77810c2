import { describe, expect, test } from "vitest";
import {
  badRequest,
  corruptRecord,
  ERROR_CODES,
  isCorruptRecord,
  LatchkeyError,
} from "./errors.js";

describe("LatchkeyError", () => {
  test("is an Error with a name, a code and a message", () => {
    const error = new LatchkeyError("CONFLICT", "the name is taken");
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "LatchkeyError",
      code: "CONFLICT",
      message: "the name is taken",
    });
  });

  test("without options it has no issues, no outcome and no cause", () => {
    const error = new LatchkeyError("NOT_FOUND", "no such key");
    expect(error.issues).toEqual([]);
    expect(error.outcome).toBeUndefined();
    expect("cause" in error).toBe(false);
  });

  test("keeps the original error as its cause", () => {
    const cause = new Error("connection reset");
    expect(new LatchkeyError("STORE_UNAVAILABLE", "no answer", { cause }).cause).toBe(cause);
  });

  test.each(["not-applied", "unknown"] as const)(
    "a lost answer can say that its change is %s",
    (outcome) => {
      expect(new LatchkeyError("STORE_UNAVAILABLE", "no answer", { outcome }).outcome).toBe(
        outcome,
      );
    },
  );

  test("an error of another copy of the package is one too", async () => {
    const path = "./errors.js?copy";
    const copy: typeof import("./errors.js") = await import(path);
    expect(copy.LatchkeyError).not.toBe(LatchkeyError);
    const error: unknown = new copy.LatchkeyError("NOT_FOUND", "no such key");
    expect([error instanceof LatchkeyError, isCorruptRecord(copy.corruptRecord("key"))]).toEqual([
      true,
      true,
    ]);
    class OwnError extends LatchkeyError {}
    expect([error instanceof OwnError, new OwnError("NOT_FOUND", "") instanceof OwnError]).toEqual([
      false,
      true,
    ]);
    const renamed: unknown = Object.assign(new OwnError("NOT_FOUND", ""), { name: "Refused" });
    expect(renamed instanceof LatchkeyError).toBe(true);
    for (const other of [null, {}, new Error("no"), Object.assign(new Error("no"), { code: "E" })])
      expect(other instanceof LatchkeyError).toBe(false);
  });

  test("no code is in the closed list twice", () => {
    expect(ERROR_CODES).toEqual([...new Set(ERROR_CODES)]);
  });
});

describe("badRequest", () => {
  test("lists every bad field in its message and in its issues", () => {
    const issues = [
      { path: "refill.amount", message: "must be a whole number >= 1" },
      { path: "expires", message: "must lie in the future" },
    ];
    const error = badRequest(issues);
    expect(error.code).toBe("BAD_REQUEST");
    expect(error.message).toBe(
      '"refill.amount" must be a whole number >= 1; "expires" must lie in the future',
    );
    expect(error.issues).toEqual(issues);
  });

  test("lists the first ten of many fields in its message, and all in its issues", () => {
    const issues = Array.from({ length: 12 }, (_, index) => {
      return { path: `${index}.hash`, message: "is required" };
    });
    const error = badRequest(issues);
    expect(error.message).toMatch(/^"0\.hash" is required; .*; "9\.hash" is required; and 2 more$/);
    expect(badRequest(issues.slice(0, 10)).message).toMatch(/; "9\.hash" is required$/);
    expect(error.issues).toEqual(issues);
  });

  test("an issue of the input as a whole says that it is about the input", () => {
    expect(badRequest([{ path: "", message: "must be an object" }]).message).toBe(
      "the input must be an object",
    );
  });
});

describe("corruptRecord", () => {
  test("says which record was not used, and that it fails closed", () => {
    const error = corruptRecord("key key_123");
    expect(error).toMatchObject({
      code: "STORE_CORRUPT",
      message: "the stored key key_123 is damaged and was not used",
    });
  });

  test("keeps the error behind it as its cause", () => {
    const cause = new SyntaxError("unexpected end of JSON input");
    expect(corruptRecord("key key_123", cause).cause).toBe(cause);
  });
});
