import { canonicalAddress, isAddressListed } from "@latchkey/core";

/**
 * Networks that are not part of the public Internet: private, loopback, link-local, shared, reserved, documentation, multicast.
 *
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry
 * @see https://www.iana.org/assignments/iana-ipv6-special-registry
 */
const NOT_PUBLIC: readonly string[] = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
  // Only 2000::/3 of IPv6 is assigned. Ranges of it that contain an IPv4 address are excluded.
  "::/3",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
  "4000::/2",
  "8000::/1",
];

/** IPv4 addresses as written in networks without IPv4 (RFC 6052): the embedded address decides. */
const TRANSLATED = /^64:ff9b::(?:(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,4}))?$/;

/**
 * Whether events may be sent to an address.
 *
 * @param address - As the resolver returns it. Anything that is not an address is refused.
 * @param allow - Ranges that are allowed although they are not public.
 */
export function mayConnect(address: string, allow: readonly string[]): boolean {
  const canonical = canonicalAddress(address);
  if (canonical === null) return false;
  if (isAddressListed(allow, canonical)) return true;
  const translated = TRANSLATED.exec(canonical);
  if (translated === null) return !isAddressListed(NOT_PUBLIC, canonical);
  const [high = 0, low = 0] = translated.slice(1).map((part) => Number.parseInt(part ?? "0", 16));
  return mayConnect([high >> 8, high & 255, low >> 8, low & 255].join("."), allow);
}
