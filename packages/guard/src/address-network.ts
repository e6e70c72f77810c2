/** Groups of 16 bits: of an IPv6 address, and of its network. */
const GROUPS = 8;
const NETWORK_GROUPS = 4;

/**
 * The network that an address is counted under: an IPv4 address itself, or the /64 of an IPv6 address, because one client usually has all
 * addresses of a /64.
 *
 * @param address - From `canonicalAddress`, which turns an IPv4-mapped address into IPv4.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const [before = "", after] = address.split("::");
  const head = before === "" ? [] : before.split(":");
  const tail = after === undefined || after === "" ? [] : after.split(":");
  const zeros = Array<string>(GROUPS - head.length - tail.length).fill("0");
  return [...head, ...zeros, ...tail].slice(0, NETWORK_GROUPS).join(":");
}
