import { LatchkeyError } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { MAX_DEPTH, parseJsonArray, parseJsonObject } from "./json.js";

const bytes = (text: string) => new TextEncoder().encode(text);

function errorOf(body: Uint8Array | string): string {
  try {
    parseJsonObject(typeof body === "string" ? bytes(body) : body);
  } catch (error) {
    expect(error).toBeInstanceOf(LatchkeyError);
    expect((error as LatchkeyError).code).toBe("BAD_REQUEST");
    return (error as LatchkeyError).message;
  }
  return "accepted";
}

const nested = (levels: number) => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

describe("a JSON body", () => {
  test("an object is read unchanged", () => {
    expect(parseJsonObject(bytes(' {"a":[1,{"b":null}],"":"\\u00e9: {}[]\\""}\n'))).toEqual({
      a: [1, { b: null }],
      "": 'é: {}[]"',
    });
  });

  test("anything but an object at the top level is refused", () => {
    for (const body of ["null", "true", "1", '"x"', "[]", '[{"a":1}]'])
      expect(errorOf(body)).toBe("the body must be a JSON object");
  });

  test("malformed JSON is refused with a message that quotes nothing of it", () => {
    const secret = "lk_root_hunter2hunter2";
    const broken = ["", " ", "{", "}", "{}{}", "{} x", '{"a":1,}', "{'a':1}", "{a:1}", "/**/{}"];
    broken.push(
      '{"a":NaN}',
      '{"a":01}',
      '{"a":"\u0001"}',
      '{"a" 1}',
      '{"a":1 "b":2}',
      `{"${secret}`,
    );
    broken.push(`${secret}`, `{"a":${secret}}`, '{"a":"\\x"}', '{"a":1}\u0000', '{"a"::1}');
    for (const body of broken) {
      expect([body, errorOf(body)]).toEqual([body, "the body must be well-formed JSON"]);
    }
  });

  test("only UTF-8 without a byte order mark is read", () => {
    for (const body of [
      [0xff],
      [0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d],
      [0xed, 0xa0, 0x80],
      [0xc0, 0x80],
    ])
      expect(errorOf(Uint8Array.from(body))).toBe("the body must be UTF-8");
    expect(errorOf(Uint8Array.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]))).toBe(
      "the body must be well-formed JSON",
    );
    const utf16 = Uint8Array.from(
      [...'{"a":1}'].flatMap((character) => [character.charCodeAt(0), 0]),
    );
    expect(errorOf(utf16)).toBe("the body must be well-formed JSON");
  });
});

describe("depth", () => {
  test(`${MAX_DEPTH} levels are read, one more is not`, () => {
    expect(errorOf(nested(MAX_DEPTH))).toBe("accepted");
    expect(errorOf(nested(MAX_DEPTH + 1))).toBe("the body must be nested at most 32 levels deep");
  });

  test("a million levels cost no stack, closed or not", () => {
    for (const body of [nested(1_000_000), "[".repeat(1_000_000), '{"a":'.repeat(1_000_000)])
      expect(errorOf(body)).toBe("the body must be nested at most 32 levels deep");
  });

  test("brackets in strings do not count as levels", () => {
    expect(errorOf(`{"a":"${"[{".repeat(100)}\\"${"[".repeat(100)}"}`)).toBe("accepted");
  });
});

describe("members", () => {
  test("one given twice is refused, at every level and in every spelling", () => {
    const doubled = [
      '{"a":1,"a":1}',
      '{"a":1,"\\u0061":2}',
      '{"b":{"a":1,"a":2}}',
      '{"b":[{"a":1,"a":2}]}',
    ];
    doubled.push(
      '{"__proto__":1,"__proto__":2}',
      '{"":1,"":2}',
      '{"a":{},"b":1,"a":[]}',
      '{"1":1,"1":2}',
    );
    for (const body of doubled)
      expect([body, errorOf(body)]).toEqual([body, "the body must not contain a member twice"]);
  });

  test("the same name in different objects is not a duplicate", () => {
    expect(errorOf('{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}],"c":"a:b:c"}')).toBe("accepted");
  });

  test("__proto__ is a member like any other and touches no prototype", () => {
    const value = parseJsonObject(bytes('{"__proto__":{"polluted":true}}'));
    expect(Object.keys(value)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect("polluted" in {}).toBe(false);
  });
});

describe("a list", () => {
  const refusalOfList = (body: string): string => {
    try {
      parseJsonArray(bytes(body));
    } catch (error) {
      return (error as LatchkeyError).message;
    }
    return "accepted";
  };

  test("is read unchanged", () => {
    expect(parseJsonArray(bytes(' [{"a":[1]},null,2]\n'))).toEqual([{ a: [1] }, null, 2]);
    expect(parseJsonArray(bytes("[]"))).toEqual([]);
  });

  test("is required, and read as strictly as an object", () => {
    for (const body of ["{}", "null", "true", "1", '"x"', '{"0":1,"length":1}'])
      expect(refusalOfList(body)).toBe("the body must be a JSON array");
    expect(refusalOfList('[{"a":1,"a":2}]')).toBe("the body must not contain a member twice");
    expect(refusalOfList('[{"a":1}')).toBe("the body must be well-formed JSON");
    expect(refusalOfList(`${"[".repeat(MAX_DEPTH)}${"]".repeat(MAX_DEPTH)}`)).toBe("accepted");
    expect(refusalOfList(`${"[".repeat(MAX_DEPTH + 1)}${"]".repeat(MAX_DEPTH + 1)}`)).toBe(
      `the body must be nested at most ${MAX_DEPTH} levels deep`,
    );
  });
});
