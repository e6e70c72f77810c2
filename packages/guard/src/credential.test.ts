import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_KEY_LENGTH, readCredential, readFoundKey } from "./credential.js";

const read = (authorization: readonly string[], apiKey: readonly string[] = []) =>
  readCredential({ authorization, apiKey });

const LONGEST = "k".repeat(MAX_KEY_LENGTH);

describe("the key of a request", () => {
  test.each(["Bearer k1", "bearer k1", "BEARER k1", "Bearer   k1"])("is read from %j", (value) => {
    expect(read([value])).toEqual({ kind: "key", key: "k1" });
  });

  test("is read from X-API-Key", () => {
    expect(read([], ["k1"])).toEqual({ kind: "key", key: "k1" });
  });

  test("may be in both headers, if they are equal", () => {
    expect(read(["Bearer k1"], ["k1"])).toEqual({ kind: "key", key: "k1" });
  });

  test.each(["", "Basic eDp5", "Basic", "Digest realm=x, qop=auth", "Bearerk1", "k1"])(
    "is not %j in Authorization: that is another scheme",
    (value) => {
      expect(read([value])).toEqual({ kind: "none" });
      expect(read([value], ["k1"])).toEqual({ kind: "key", key: "k1" });
    },
  );

  test("is missing if there is no header", () => {
    expect(read([])).toEqual({ kind: "none" });
  });

  test("can have 512 characters, and no more", () => {
    expect(read([`Bearer ${LONGEST}`])).toEqual({ kind: "key", key: LONGEST });
    expect(read([`Bearer ${LONGEST}k`])).toMatchObject({ kind: "malformed" });
    expect(read([], [`${LONGEST}k`])).toMatchObject({ kind: "malformed" });
  });

  test.each<[string, string[], string[]]>([
    ["a header sent twice", ["Bearer k1", "Bearer k1"], []],
    ["another scheme beside a key", ["Basic eDp5", "Bearer k1"], []],
    ["a header sent twice, joined into one", ["Bearer k1, Bearer k1"], []],
    ["another scheme beside a key, joined into one", ["Basic eDp5, Bearer k1"], []],
    ["two headers of other schemes, joined into one", ["Basic eDp5, Basic eDp5"], ["k1"]],
    ["one without credentials joined to another", ["Basic eDp5, Negotiate"], []],
    ["a comma in quotes, and another header behind it", ['Digest n="a, b", Basic eDp5=='], ["k1"]],
    ["an own header sent twice", [], ["k1", "k1"]],
    ["an own header sent twice, joined into one", [], ["k1, k1"]],
    ["two that differ", ["Bearer k1"], ["k2"]],
    ["one that is empty beside a good one", ["Bearer k1"], [""]],
    ["a good one beside an empty one", ["Bearer"], ["k1"]],
    ["an empty token", ["Bearer "], []],
    ["no token at all", ["Bearer"], []],
    ["an empty header", [], [""]],
    ["white space", ["Bearer k1 k2"], []],
    ["a tab", [], ["k1\tk2"]],
    ["a line end", ["Bearer k1\nk2"], []],
    ["NUL", [], ["k1\0"]],
    ["a C1 control character", [], ["k1\x85"]],
  ])("is malformed: %s", (_what, authorization, apiKey) => {
    expect(read(authorization, apiKey)).toMatchObject({ kind: "malformed" });
  });
});

test("X-API-Key with Bearer in front of the key is told to leave that out", () => {
  expect(read([], ["Bearer k1"])).toEqual({
    kind: "malformed",
    detail: "X-API-Key takes the API key alone, without Bearer",
  });
  expect(read([], ["Bearerk1"])).toEqual({ kind: "key", key: "Bearerk1" });
});

test.each([
  "Basic eDp5",
  'Digest username="Smith, John", realm="a \\"b\\", c", uri="/x?y=1, 2", nc=00000001, qop=auth',
  "AWS4-HMAC-SHA256 Credential=AKID/20260310/eu/s3/aws4_request, SignedHeaders=host;date, Signature=ab",
  "Basic eDp5,",
  "Negotiate",
])("credentials of another scheme are ignored, and X-API-Key counts: %s", (value) => {
  expect(read([value])).toEqual({ kind: "none" });
  expect(read([value], ["k1"])).toEqual({ kind: "key", key: "k1" });
});

test("a quote that is never closed hides no second header, and is read once however long it is", () => {
  expect(read(['Digest username="Smith, Bearer k1'])).toMatchObject({ kind: "malformed" });
  const startedAt = performance.now();
  expect(read([`Digest username=${'\\"'.repeat(200_000)}`])).toEqual({ kind: "none" });
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

describe("a key that getKey returned", () => {
  test.each([undefined, null])("is missing if it is %s", (found) => {
    expect(readFoundKey(found)).toEqual({ kind: "none" });
  });

  test("is used unchanged, including white space and non-ASCII letters", () => {
    expect(readFoundKey("schlüssel nr. 1")).toEqual({ kind: "key", key: "schlüssel nr. 1" });
  });

  test.each(["", `${LONGEST}k`, "k1\n", ["k1", "k2"], 7, {}])("is malformed: %j", (found) => {
    expect(readFoundKey(found)).toMatchObject({ kind: "malformed" });
  });
});

test("reading never throws, a key has 1 to 512 characters that were in a header, and no error repeats it", () => {
  const values = fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.constant("Bearer k1")), {
    maxLength: 3,
  });
  fc.assert(
    fc.property(values, values, (authorization, apiKey) => {
      const credential = read(authorization, apiKey);
      if (credential.kind === "key") {
        expect(credential.key).toMatch(/^[^\s\p{Cc}]{1,512}$/u);
        expect([...authorization, ...apiKey].some((value) => value.endsWith(credential.key))).toBe(
          true,
        );
      }
      if (credential.kind === "malformed") expect(credential.detail).toMatch(/^[\x20-\x7e]+$/);
    }),
  );
});
