/** Groups of an IPv6 address, and those of them that name its network. */
const GROUPS = 8;
const NETWORK_GROUPS = 4;

/**
 * What an address is counted as: IPv4 unchanged, IPv6 as its /64 network, because one client usually has all of its addresses.
 *
 * @param address - From `canonicalAddress`, where an IPv4-mapped address is IPv4.
 */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const [before = "", after] = address.split("::");
  const head = before === "" ? [] : before.split(":");
  const tail = after === undefined || after === "" ? [] : after.split(":");
  const zeros = Array<string>(GROUPS - head.length - tail.length).fill("0");
  return [...head, ...zeros, ...tail].slice(0, NETWORK_GROUPS).join(":");
}
