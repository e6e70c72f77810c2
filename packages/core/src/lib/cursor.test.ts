import { describe, expect, test } from "vitest";
import { decodeCursor, encodeCursor, type ListScope } from "./cursor.js";

const KEYS: ListScope = { list: "keys", ownerId: "api_1" };
const cursor = encodeCursor(KEYS, "key_1Abc");
const cursorOf = (text: string) => Buffer.from(text).toString("base64url");

describe("a cursor", () => {
  test("gives back the last id of the page before, to the list it was written for", () => {
    expect(decodeCursor(KEYS, cursor)).toBe("key_1Abc");
  });

  test("is text that needs no escaping in a URL", () => {
    expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
  });

  test("of keys fits no list of identities, and the other way round", () => {
    const identities: ListScope = { list: "identities", ownerId: "api_1" };
    expect(decodeCursor(identities, cursor)).toBeNull();
    expect(decodeCursor(KEYS, encodeCursor(identities, "key_1Abc"))).toBeNull();
  });

  test.each(["api_2", "api_", "api_11", "", "ws_default"])(
    "of one API fits no list of %j",
    (ownerId) => {
      expect(decodeCursor({ ...KEYS, ownerId }, cursor)).toBeNull();
    },
  );

  test.each([
    { label: "empty", text: "" },
    { label: "not base64url", text: "!!!" },
    { label: "an id by itself", text: "key_1Abc" },
    { label: "padded", text: `${cursor}=` },
    { label: "of another version", text: cursorOf("2:keys:api_1:key_1Abc") },
    { label: "of no version", text: cursorOf(":keys:api_1:key_1Abc") },
    { label: "without an id", text: cursorOf("1:keys:api_1") },
    { label: "with an empty id", text: cursorOf("1:keys:api_1:") },
    { label: "with a part too many", text: cursorOf("1:keys:api_1:key_1Abc:") },
    { label: "with a malformed id", text: cursorOf("1:keys:api_1:key_1'--") },
    { label: "with a line end behind its id", text: cursorOf("1:keys:api_1:key_1Abc\n") },
    { label: "with a byte order mark in front", text: cursorOf("\ufeff1:keys:api_1:key_1Abc") },
    {
      label: "with bytes that are no text",
      text: Buffer.from([0xff, 0xfe, 0x31]).toString("base64url"),
    },
  ])("that is $label is refused", ({ text }) => {
    expect(decodeCursor(KEYS, text)).toBeNull();
  });

  test("that was cut off anywhere is not read as another page of the list, except after a shorter id", () => {
    for (let length = 0; length < cursor.length; length += 1) {
      const position = decodeCursor(KEYS, cursor.slice(0, length));
      if (position !== null) expect("key_1Abc".startsWith(position)).toBe(true);
    }
  });
});
