import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openService } from "../testing/open-service.js";
import { readQuery } from "./query.js";

const TYPES = { limit: "integer", decrypt: "boolean" } as const;
const fieldsOf = (text: string) => ({ ...readQuery(text, TYPES).fields });
const issuesOf = (text: string) => readQuery(text, TYPES).issues;

describe("numbers", () => {
  test("plain decimal whole numbers become numbers", () => {
    for (const text of ["0", "1", "100", "101", "9007199254740991"])
      expect(fieldsOf(`limit=${text}`)).toEqual({ limit: Number(text) });
  });

  test("everything else stays text, which the schema refuses", () => {
    const odd = [
      "-1",
      "-0",
      "1e2",
      "0x10",
      "1.0",
      "%2B1",
      "%201",
      "1%20",
      "1_0",
      "01",
      "00",
      "",
      "null",
      "NaN",
    ];
    odd.push("Infinity", "1".repeat(17), "%D9%A1", "1n", "true", "%00", "1,2");
    for (const text of odd)
      expect(fieldsOf(`limit=${text}`)).toEqual({ limit: decodeURIComponent(text) });
  });
});

test("each boolean can be written in two ways; null and an empty value mean false", () => {
  for (const text of ["true", "1"]) expect(fieldsOf(`decrypt=${text}`)).toEqual({ decrypt: true });
  for (const text of ["false", "0", "null", ""])
    expect(fieldsOf(`decrypt=${text}`)).toEqual({ decrypt: false });
  expect(fieldsOf("decrypt")).toEqual({ decrypt: false });
  for (const text of ["yes", "TRUE", "2", "on", "undefined", "%20true"])
    expect(fieldsOf(`decrypt=${text}`)).toEqual({ decrypt: decodeURIComponent(text) });
});

describe("text", () => {
  test("is decoded once: a plus is a space, %2B a plus, %25 a percent sign", () => {
    expect(fieldsOf("id=a+b")).toEqual({ id: "a b" });
    expect(fieldsOf("id=a%2Bb")).toEqual({ id: "a+b" });
    expect(fieldsOf("id=%252B")).toEqual({ id: "%2B" });
    expect(fieldsOf("id=a=b%26c")).toEqual({ id: "a=b&c" });
    expect(fieldsOf("&&a=1&&")).toEqual({ a: "1" });
    expect(fieldsOf("")).toEqual({});
  });

  test("that is not percent-encoded UTF-8 is an issue, not a guess", () => {
    const message = "must be percent-encoded UTF-8";
    for (const text of ["%", "%f", "%zz", "%ff", "%C3%28", "%ED%A0%80", "a%"])
      expect(issuesOf(`apiId=${text}`)).toEqual([{ path: "apiId", message }]);
    expect(issuesOf("%ff=1")).toEqual([{ path: "", message }]);
  });

  test("that URLSearchParams writes reads back the same", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" })),
        (fields) => {
          const text = new URLSearchParams(Object.entries(fields)).toString();
          expect(Object.entries(readQuery(text).fields)).toEqual(Object.entries(fields));
        },
      ),
    );
  });
});

describe("parameters", () => {
  test("one given twice is an issue, in whatever spelling", () => {
    const message = "must not be given twice";
    for (const text of ["a=1&a=1", "a=1&%61=2", "a&a", "a=1&b=2&a="])
      expect(issuesOf(text)).toEqual([{ path: "a", message }]);
    expect(issuesOf("__proto__=1&__proto__=2")).toEqual([{ path: "__proto__", message }]);
  });

  test("ten thousand are read, and any more are an issue", () => {
    const text = Array.from({ length: 10_000 }, (_, at) => `p${at}=1`).join("&");
    expect(issuesOf(`&&${text}&&`)).toEqual([]);
    const message = "must have at most 10000 parameters";
    expect(issuesOf(`${text}&more=%&more`)).toEqual([{ path: "", message }]);
    expect(Object.keys(readQuery(`${text}&more=1`).fields)).toHaveLength(10_000);
  });

  test("names that are special in JavaScript are ordinary here", () => {
    const { fields } = readQuery(
      "__proto__=1&constructor=2&limit[]=3&limit[$gt]=4&toString=5",
      TYPES,
    );
    expect(Object.entries(fields)).toEqual([
      ["__proto__", "1"],
      ["constructor", "2"],
      ["limit[]", "3"],
      ["limit[$gt]", "4"],
      ["toString", "5"],
    ]);
    expect(Object.getPrototypeOf(fields)).toBeNull();
  });
});

test.each([
  ["apis.getApi", "apiId=%ff", ["apiId"]],
  ["apis.listKeys", "apiId=%&limit=%zz&decrypt=%C3%28", ["apiId", "limit", "decrypt"]],
  ["apis.listKeys", "apiId=x&limit=0&limit=%", ["limit"]],
  ["apis.getApi", "apiId=x&unknown=%", ["unknown"]],
  ["identities.getIdentity", "externalId=%ff", ["externalId"]],
])("a field that cannot be decoded has no other issue: %s?%s", async (name, query, paths) => {
  const service = await openService();
  const response = await service.send(
    new Request(`http://keys.test/v1/${name}?${query}`, {
      headers: { authorization: `Bearer ${service.root}` },
    }),
  );
  const { error } = (await response.json()) as { error: { message: string; issues: unknown } };
  const message = "must be percent-encoded UTF-8";
  expect([response.status, error.issues]).toEqual([400, paths.map((path) => ({ path, message }))]);
  expect(error.message).toBe(paths.map((path) => `"${path}" ${message}`).join("; "));
});

test("issues of other fields are listed, too", async () => {
  const service = await openService();
  const response = await service.send(
    new Request("http://keys.test/v1/apis.listKeys?limit=0&cursor=%", {
      headers: { authorization: `Bearer ${service.root}` },
    }),
  );
  const { error } = (await response.json()) as { error: { issues: { path: string }[] } };
  expect(error.issues.map(({ path }) => path).sort()).toEqual(["apiId", "cursor", "limit"]);
});
