import { describe, expect, test } from "vitest";
import { mayConnect } from "./address.js";

const REFUSED = [
  "0.0.0.0",
  "10.0.0.1",
  "100.64.0.1",
  "100.127.255.255",
  "127.0.0.1",
  "127.255.255.255",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.170",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.1.1",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:10.1.2.3",
  "::ffff:169.254.169.254",
  "::7f00:1",
  "64:ff9b::7f00:1",
  "64:ff9b::10.0.0.1",
  "64:ff9b::1",
  "64:ff9b::",
  "64:ff9b:1::1",
  "100::1",
  "2001::1",
  "2001:db8::1",
  "2002:7f00:1::1",
  "3fff::1",
  "5f00::1",
  "fc00::1",
  "fd12:3456:789a::1",
  "fe80::1",
  "fe80::1%eth0",
  "fec0::1",
  "ff02::1",
  "localhost",
  "",
  "0177.0.0.1",
  "2130706433",
];

const ALLOWED = [
  "1.1.1.1",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "::ffff:1.1.1.1",
  "64:ff9b::101:101",
  "2001:4860:4860::8888",
  "2606:4700::1111",
  "3ffe:ffff::1",
];

describe("an address outside the public Internet", () => {
  test.each(REFUSED)("%s is refused", (address) => {
    expect(mayConnect(address, [])).toBe(false);
  });

  test("is allowed if a range contains it, in any notation", () => {
    const allow = ["127.0.0.0/8", "fd00::/8"];
    for (const address of ["127.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fd00::1"])
      expect([address, mayConnect(address, allow)]).toEqual([address, true]);
    for (const address of ["10.0.0.1", "::1", "fc00::1", "169.254.169.254"])
      expect([address, mayConnect(address, allow)]).toEqual([address, false]);
  });
});

test.each(ALLOWED)("the public address %s is allowed", (address) => {
  expect(mayConnect(address, [])).toBe(true);
});
