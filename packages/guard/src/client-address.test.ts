import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clientAddress } from "./client-address.js";

const addressOf = (
  forwardedFor: readonly string[],
  trustProxy: number,
  remoteAddress: string | null = "198.51.100.1",
) => clientAddress({ forwardedFor, remoteAddress }, trustProxy);

describe("the address of a request", () => {
  test("is that of the socket, whatever a header says", () => {
    expect(addressOf(["192.0.2.7"], 0)).toBe("198.51.100.1");
  });

  test("is unknown if the runtime does not provide it", () => {
    expect(addressOf(["192.0.2.7"], 0, null)).toBeNull();
  });

  test("behind one proxy is the last entry of the list", () => {
    expect(addressOf(["203.0.113.9, 192.0.2.7"], 1)).toBe("192.0.2.7");
  });

  test("behind two proxies is the last entry but one", () => {
    expect(addressOf(["203.0.113.9, 192.0.2.7, 10.0.0.1"], 2)).toBe("192.0.2.7");
  });

  test("is read from a header that was sent twice as from one list", () => {
    expect(addressOf(["203.0.113.9", "192.0.2.7,10.0.0.1"], 2)).toBe("192.0.2.7");
  });

  test("is unknown if the list is too short: the request bypassed the proxies", () => {
    expect(addressOf([], 1)).toBeNull();
    expect(addressOf([""], 1)).toBeNull();
    expect(addressOf(["192.0.2.7"], 2)).toBeNull();
  });

  test.each([
    ["192.0.2.7:51234", "192.0.2.7"],
    ["[2001:db8::7]:51234", "2001:db8::7"],
    ["2001:DB8::7", "2001:db8::7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
  ])("%s is read as %s, from the header and from the socket", (text, address) => {
    expect(addressOf([text], 1)).toBe(address);
    expect(addressOf([], 0, text)).toBe(address);
  });

  test.each(["unknown", "_hidden", "", "192.0.2.7 192.0.2.8", "0177.0.0.1"])(
    "%j is no address, and keeps its place",
    (text) => {
      expect(addressOf([`192.0.2.7, ${text}`], 1)).toBeNull();
      expect(addressOf([`${text}, 192.0.2.7`], 1)).toBe("192.0.2.7");
    },
  );
});

test("behind n proxies the address is the nth entry from the end, whatever the caller writes before it", () => {
  const written = fc.string({ unit: "binary", maxLength: 40 });
  fc.assert(
    fc.property(written, fc.array(fc.ipV4(), { minLength: 1, maxLength: 4 }), (text, hops) => {
      const field = [text, ...hops].join(", ");
      expect(addressOf([field], hops.length)).toBe(hops[0]);
    }),
  );
});
