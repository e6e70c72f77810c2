import { describe, expect, test } from "vitest";
import { decodeBase64Url, encodeBase64Url } from "./bytes.js";

const bytesOf = (text: string) => new TextEncoder().encode(text);

// The test vectors of RFC 4648 §10, without padding as §5 allows.
describe.each([
  { plain: "", text: "" },
  { plain: "f", text: "Zg" },
  { plain: "fo", text: "Zm8" },
  { plain: "foo", text: "Zm9v" },
  { plain: "foob", text: "Zm9vYg" },
  { plain: "fooba", text: "Zm9vYmE" },
  { plain: "foobar", text: "Zm9vYmFy" },
])("the published vector of $plain", ({ plain, text }) => {
  test("is the encoding of its bytes", () => expect(encodeBase64Url(bytesOf(plain))).toBe(text));
  test("is decoded to its bytes", () => expect(decodeBase64Url(text)).toEqual(bytesOf(plain)));
});

test("the last two characters of the alphabet are - and _, so that the text needs no escaping in a URL", () => {
  expect(encodeBase64Url(Uint8Array.of(0xfb, 0xff))).toBe("-_8");
});

test.each([
  { text: "Zg==", flaw: "padding" },
  { text: "+/8", flaw: "the alphabet of plain base64" },
  { text: "Zm 9v", flaw: "a space" },
  { text: "Zm9v\n", flaw: "a line end" },
  { text: "Zm9vY", flaw: "a length that no bytes have" },
  { text: "Zh", flaw: "stray low bits after one byte" },
  { text: "Zm9", flaw: "stray low bits after two bytes" },
  { text: "Zmé", flaw: "a character outside of ASCII" },
])("a text with $flaw is not decoded", ({ text }) => {
  expect(decodeBase64Url(text)).toBeNull();
});
