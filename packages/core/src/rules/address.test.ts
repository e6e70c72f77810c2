import { describe, expect, test } from "vitest";
import { canonicalAddress, canonicalAddressRange, isAddressListed } from "./address.js";

describe("an address", () => {
  test.each([
    ["192.0.2.7", "192.0.2.7"],
    ["0.0.0.0", "0.0.0.0"],
    ["255.255.255.255", "255.255.255.255"],
    ["::", "::"],
    ["::1", "::1"],
    ["2001:DB8:0:0:0:0:0:7", "2001:db8::7"],
    ["2001:0db8::0007", "2001:db8::7"],
    ["2001:db8:0:1:0:0:0:1", "2001:db8:0:1::1"],
    ["64:ff9b::192.0.2.7", "64:ff9b::c000:207"],
    ["fe80::1%eth0", "fe80::1"],
    ["fe80::1%3", "fe80::1"],
    [`fe80::1%${"e".repeat(64)}`, "fe80::1"],
  ])("the canonical form of %s is %s", (text, canonical) => {
    expect(canonicalAddress(text)).toBe(canonical);
  });

  test.each([
    "::ffff:192.0.2.7",
    "::FFFF:192.0.2.7",
    "::ffff:c000:207",
    "0:0:0:0:0:ffff:192.0.2.7",
    "0000:0000:0000:0000:0000:ffff:c000:0207",
  ])("%s, mapped into IPv6, is the IPv4 address", (text) => {
    expect(canonicalAddress(text)).toBe("192.0.2.7");
  });

  test.each([
    ["192.0.2.7:0", "192.0.2.7"],
    ["192.0.2.7:80", "192.0.2.7"],
    ["192.0.2.7:65535", "192.0.2.7"],
    ["[2001:DB8::7]:443", "2001:db8::7"],
    ["[2001:db8::7]", "2001:db8::7"],
    ["[2001:db8::7]:65535", "2001:db8::7"],
    ["[::ffff:192.0.2.7]:51234", "192.0.2.7"],
    ["[fe80::1%eth0]:51234", "fe80::1"],
    // Indistinguishable from an address: without brackets, all of it is one.
    ["2001:db8::7:443", "2001:db8::7:443"],
  ])("%s, as proxies write it, is %s: the port is removed", (text, canonical) => {
    expect(canonicalAddress(text)).toBe(canonical);
  });

  test.each([
    "",
    " ",
    "localhost",
    "1",
    "127.1",
    "127.0.1",
    "3221225991",
    "0300.0.2.7",
    "192.0.2.07",
    "192.0.2.00",
    "0xc0.0.2.7",
    "0xc0000207",
    "192.0.2.256",
    "192.0.2.-1",
    "192.0.2.7.1",
    "192.0.2.",
    ".192.0.2",
    " 192.0.2.7",
    "192.0.2.7 ",
    "192.0.2.7\n",
    "192.0.2.7\0",
    "192.0.2.7:",
    "192.0.2.7:65536",
    "192.0.2.7:080808",
    "192.0.2.7:80:80",
    "192.0.2.7:-1",
    "192.0.2.7:80 ",
    "192.0.2:80",
    "localhost:80",
    "[192.0.2.7]",
    "[192.0.2.7]:80",
    "[]",
    "[]:80",
    "[::1",
    "::1]",
    "[::1]:",
    "[::1]:65536",
    "[::1]80",
    "[[::1]]:80",
    "[::1/128]:80",
    "192.0.2.7/32",
    "192.0.2.7%eth0",
    "１９２.0.2.7",
    ":",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7:8:",
    ":1:2:3:4:5:6:7:8",
    "1::2:",
    "12345::",
    "g::1",
    "::1%",
    "::1%eth 0",
    "::1%eth0%eth1",
    "::1/128",
    "::192.0.2.7",
    "::ffff:192.0.2.256",
    "::ffff:0300.0.2.7",
    "::ffff:0xc0.0.2.7",
    "::ffff:192.0.2",
    "1:2:3:4:5:6:7:192.0.2.7",
    `${"0".repeat(200)}::1`,
    "x::1%eth0",
    "%::1%eth0",
    "::1%eth0 ",
    `fe80::1%${"e".repeat(65)}`,
  ])("%j is not an address", (text) => {
    expect(canonicalAddress(text)).toBeNull();
  });
});

describe("an entry of an allow-list", () => {
  test.each(["192.0.2.7:80", "[2001:db8::7]:443", "[2001:db8::7]"])(
    "%s, with a port or in brackets, is refused",
    (text) => {
      expect(canonicalAddressRange(text)).toBeNull();
    },
  );

  test.each([
    ["192.0.2.7", "192.0.2.7"],
    ["192.0.2.7/32", "192.0.2.7"],
    ["192.0.2.6/31", "192.0.2.6/31"],
    ["10.0.0.0/8", "10.0.0.0/8"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["128.0.0.0/1", "128.0.0.0/1"],
    ["2001:DB8::/32", "2001:db8::/32"],
    ["2001:db8::7/128", "2001:db8::7"],
    ["2001:db8::6/127", "2001:db8::6/127"],
    ["::/0", "::/0"],
    ["8000::/1", "8000::/1"],
    ["::ffff:10.0.0.0/104", "10.0.0.0/8"],
    ["::ffff:192.0.2.7/128", "192.0.2.7"],
    ["::ffff:0.0.0.0/96", "0.0.0.0/0"],
  ])("the canonical form of %s is %s", (text, canonical) => {
    expect(canonicalAddressRange(text)).toBe(canonical);
  });

  test.each([
    "192.0.2.0/33",
    "192.0.2.0/-1",
    "192.0.2.0/024",
    "192.0.2.0/24.0",
    "192.0.2.0/2e1",
    "192.0.2.0/",
    "/24",
    "192.0.2.0/24/24",
    "192.0.2.0/255.255.255.0",
    "192.0.2/24",
    "192.0.2.*",
    "192.0.2.0-192.0.2.9",
    "2001:db8::/129",
    "2001:db8::/999",
    "fe80::1%eth0",
    "fe80::%eth0/10",
    "::ffff:192.0.2.7%eth0",
    "::ffff:0.0.0.0/95",
    "::ffff:10.0.0.0/129",
    "*",
    "all",
    "",
  ])("%j is refused", (text) => {
    expect(canonicalAddressRange(text)).toBeNull();
  });

  test.each([
    ["10.1.2.3/8", "10.0.0.0/8"],
    ["10.0.0.1/31", "10.0.0.0/31"],
    ["0.0.0.1/0", "0.0.0.0/0"],
    ["192.0.2.128/24", "192.0.2.0/24"],
    ["192.0.3.0/23", "192.0.2.0/23"],
    ["2001:db8::1/32", "2001:db8::/32"],
    ["2001:db8:8000::/32", "2001:db8::/32"],
    ["::ffff:10.0.0.1/104", "::ffff:10.0.0.0/104"],
  ])(
    "%s is refused and %s is accepted: bits beyond the prefix may be a mistake",
    (wrong, right) => {
      expect(canonicalAddressRange(wrong)).toBeNull();
      expect(canonicalAddressRange(right)).not.toBeNull();
    },
  );
});

describe("an allow-list", () => {
  test.each([
    ["192.0.1.255", false],
    ["192.0.2.0", true],
    ["192.0.2.1", true],
    ["192.0.2.254", true],
    ["192.0.2.255", true],
    ["192.0.3.0", false],
  ])("of 192.0.2.0/24 holds %s: %s", (address, isListed) => {
    expect(isAddressListed(["192.0.2.0/24"], address)).toBe(isListed);
  });

  test.each([
    ["2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", false],
    ["2001:db8::", true],
    ["2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", true],
    ["2001:db9::", false],
  ])("of 2001:db8::/32 holds %s: %s", (address, isListed) => {
    expect(isAddressListed(["2001:db8::/32"], address)).toBe(isListed);
  });

  test("of single addresses holds those and no neighbour", () => {
    const list = ["192.0.2.7", "2001:db8::7"];
    const held = [
      "192.0.2.6",
      "192.0.2.7",
      "192.0.2.8",
      "2001:db8::6",
      "2001:db8::7",
      "2001:db8::8",
    ];
    expect(held.filter((address) => isAddressListed(list, address))).toEqual(list);
  });

  test("of every address of one kind holds none of the other", () => {
    expect(isAddressListed(["0.0.0.0/0"], "192.0.2.7")).toBe(true);
    expect(isAddressListed(["0.0.0.0/0"], "::1")).toBe(false);
    expect(isAddressListed(["::/0"], "::1")).toBe(true);
    expect(isAddressListed(["::/0"], "192.0.2.7")).toBe(false);
  });

  test("that is empty, or is asked about no address, holds nothing", () => {
    expect(isAddressListed([], "192.0.2.7")).toBe(false);
    expect(isAddressListed(["0.0.0.0/0", "::/0"], null)).toBe(false);
  });

  test("with a damaged entry holds what its other entries hold", () => {
    const list = ["10.0.0.0/99", "nonsense", "192.0.2.0/24"];
    expect(isAddressListed(list, "192.0.2.7")).toBe(true);
    expect(isAddressListed(list, "10.0.0.0")).toBe(false);
  });

  test("answers the same however often it is called", () => {
    const list = Object.freeze(["192.0.2.0/24"]);
    const answers = [1, 2, 3].map(() => isAddressListed(list, "192.0.2.7"));
    expect(answers).toEqual([true, true, true]);
  });
});

test.each([0, 1, 2, 3])(
  "part %i of an IPv4 address is a number from 0 to 255, in canonical form",
  (place) => {
    const numbers = Array.from({ length: 1_000 }, (_, number) => String(number));
    const others = [
      "",
      "00",
      "01",
      "007",
      "-1",
      " 1",
      "1e1",
      "0x1",
      "x",
      "1x",
      "x1",
      "1x1",
      "12x",
      "2x5",
      "25x",
    ];
    const accepted = [...numbers, ...others].filter((part) => {
      const text = ["192", "0", "2", "7"].with(place, part).join(".");
      return canonicalAddress(text) === text;
    });
    expect(accepted).toEqual(numbers.slice(0, 256));
  },
);
