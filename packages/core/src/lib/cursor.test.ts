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
    { label: "of another version", text: cursorOf("3:keys:api_1:key_1Abc") },
    { label: "without a checksum", text: cursorOf("2:keys:api_1:key_1Abc") },
    { label: "of no version", text: cursorOf(":keys:api_1:key_1Abc") },
    { label: "without an id", text: cursorOf("1:keys:api_1") },
    { label: "with an empty id", text: cursorOf("1:keys:api_1:") },
    { label: "with a part too many", text: cursorOf("1:keys:api_1:key_1Abc:") },
    { label: "with a malformed id", text: cursorOf("1:keys:api_1:key_1'--") },
    { label: "with a line end behind its id", text: cursorOf("1:keys:api_1:key_1Abc\n") },
    { label: "with a byte order mark in front", text: cursorOf("\ufeff1:keys:api_1:key_1Abc") },
    { label: "of a malformed id", text: encodeCursor(KEYS, "key_1'--") },
    { label: "of an empty id", text: encodeCursor(KEYS, "") },
    {
      label: "with bytes that are no text",
      text: Buffer.from([0xff, 0xfe, 0x31]).toString("base64url"),
    },
  ])("that is $label is refused", ({ text }) => {
    expect(decodeCursor(KEYS, text)).toBeNull();
  });

  const LISTS = ["keys", "found-keys", "identities", "apis", "root-keys", "workspaces"] as const;

  test.each(LISTS)("of %s that was cut off anywhere, at either end, is refused", (list) => {
    const scope = { list, ownerId: "ws_default" };
    const whole = encodeCursor(scope, "key_11pBBRyx3111jm5JaRrwCpyaJq");
    for (let length = 0; length < whole.length; length += 1) {
      expect(decodeCursor(scope, whole.slice(0, length))).toBeNull();
      expect(decodeCursor(scope, whole.slice(whole.length - length))).toBeNull();
    }
  });

  test("of which one character is another is refused", () => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (let at = 0; at < cursor.length; at += 1)
      for (const other of alphabet)
        if (other !== cursor[at])
          expect(decodeCursor(KEYS, cursor.slice(0, at) + other + cursor.slice(at + 1))).toBeNull();
  });

  test("of an earlier version, which had no checksum, is read", () => {
    expect(decodeCursor(KEYS, cursorOf("1:keys:api_1:key_1Abc"))).toBe("key_1Abc");
  });

  test("of events is the same as in earlier versions, because programs keep it", () => {
    const events: ListScope = { list: "events", ownerId: "ws_default" };
    const kept = encodeCursor(events, "2.1.evt_1");
    expect(kept).toBe(cursorOf("1:events:ws_default:2.1.evt_1"));
    expect(decodeCursor(events, kept, /^2\.1\.evt_1$/)).toBe("2.1.evt_1");
  });
});
