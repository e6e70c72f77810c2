import ipaddr from "ipaddr.js";

type Address = ReturnType<typeof ipaddr.parse>;

/** An address with the number of leading bits that count: all of them for a single address. */
interface AddressRange {
  readonly address: Address;
  readonly bits: number;
}

export const MAX_ADDRESS_RANGES = 1_000;

/** Error message for a wrong entry of an allow list. */
export const ADDRESS_RANGE_ERROR =
  "must be an IPv4 or IPv6 address, or a CIDR range without bits set beyond its prefix, such as 192.0.2.0/24";

export const ADDRESS_ERROR = "must be an IPv4 or IPv6 address, such as 192.0.2.7 or 2001:db8::7";

/** Longer than any address with its zone or prefix; longer texts are not parsed. */
const MAX_LENGTH = 128;

/** IPv4 in its one form. */
const CANONICAL_IPV4 =
  /^(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/;
const HEXTETS = /^[0-9a-f:]+$/i;
/** IPv6 with the last 32 bits as an IPv4 address. Not `::192.0.2.7`, a form long gone that the library takes for IPv4. */
const HEXTETS_AND_IPV4 = /^(?!::\d+\.)([0-9a-f:]*:)(\d+\.\d+\.\d+\.\d+)$/i;
const PREFIX_LENGTH = /^(0|[1-9]\d{0,2})$/;
/** An address with a port: IPv6 in brackets, with or without a port, or IPv4. */
const WITH_PORT = /^(?:\[([^[\]]*:[^[\]]*)\](?::(\d{1,5}))?|([\d.]+):(\d{1,5}))$/;
const MAX_PORT = 65_535;
/** An IPv6 address with a zone, which names the network interface. */
const ZONE = /^([^%:]*:[^%]*)%[0-9a-z._~-]{1,64}$/i;

/** Bits before the IPv4 address in an IPv4-mapped IPv6 address. */
const MAPPED_BITS = 96;

const rangesOfList = new WeakMap<readonly string[], readonly AddressRange[]>();

/**
 * Normalises an address: IPv4 in dotted decimals, IPv6 as in RFC 5952; null if it is not an address.
 *
 * Only the full decimal form of IPv4 is accepted. An IPv4-mapped IPv6 address is the IPv4 address. A zone (`fe80::1%eth0`) or a port
 * (`[2001:db8::7]:443`) is removed.
 *
 * @see packages/core/decisions/0013-addresses-are-read-strictly.md
 */
export function canonicalAddress(text: string): string | null {
  // The usual case, in 43 ns. Parsing and writing takes 1,535 ns, and a guarded request does it twice.
  if (CANONICAL_IPV4.test(text)) return text;
  if (text.length > MAX_LENGTH) return null;
  return parseAddress(withoutPort(text).replace(ZONE, "$1"))?.toString() ?? null;
}

/**
 * Normalises an entry of an allow list: an address, or a range as its first address, `/` and the number of bits; null for anything else. A
 * range of one address is that address.
 *
 * A range with bits set beyond its prefix is refused: `10.1.2.3/8` may have been meant as one address. Zones are refused too. An
 * IPv4-mapped range of 96 bits or more is the IPv4 range.
 */
export function canonicalAddressRange(text: string): string | null {
  const range = parseRange(text);
  if (range === null || !isFirstOf(range)) return null;
  const { address, bits } = range;
  return bits === sizeOf(address) ? address.toString() : `${address.toString()}/${bits}`;
}

/**
 * Whether an address is in an allow list. IPv6 ranges contain no IPv4 addresses, not even `::/0`; IPv4 ranges contain IPv4-mapped ones.
 *
 * A list is parsed only once: do not change it afterwards.
 *
 * @param list - Entries as `canonicalAddressRange` returns them. Invalid entries match nothing.
 * @param address - An address as `canonicalAddress` returns it; null if unknown, which matches nothing.
 */
export function isAddressListed(list: readonly string[], address: string | null): boolean {
  const parsed = address === null ? null : parseAddress(address);
  return parsed !== null && rangesOf(list).some((range) => isWithin(parsed, range));
}

/** Removes the port. Any other text is returned unchanged, and the parser decides about it. */
function withoutPort(text: string): string {
  if (!text.includes(":")) return text;
  const [, bracketed, portOfIpv6 = "0", ipv4, portOfIpv4 = "0"] = WITH_PORT.exec(text) ?? [];
  const isPort = Number(portOfIpv6) <= MAX_PORT && Number(portOfIpv4) <= MAX_PORT;
  return isPort ? (bracketed ?? ipv4 ?? text) : text;
}

function rangesOf(list: readonly string[]): readonly AddressRange[] {
  const known = rangesOfList.get(list);
  if (known !== undefined) return known;
  const ranges = list.map(parseRange).filter((range) => range !== null);
  rangesOfList.set(list, ranges);
  return ranges;
}

/** Parses an address strictly. The library alone would accept far more forms. */
function parseAddress(text: string): Address | null {
  const embedded = HEXTETS_AND_IPV4.exec(text)?.[2];
  const isStrict =
    embedded === undefined
      ? HEXTETS.test(text) && text.includes(":")
      : ipaddr.IPv4.isValidFourPartDecimal(embedded);
  if (!isStrict) return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : null;
  return ipaddr.IPv6.isValid(text) ? ipaddr.process(text) : null;
}

function parseRange(text: string): AddressRange | null {
  if (text.length > MAX_LENGTH) return null;
  const [start = "", length, ...rest] = text.split("/");
  const address = parseAddress(start);
  if (address === null || rest.length > 0) return null;
  const size = sizeOf(address);
  if (length === undefined) return { address, bits: size };
  if (!PREFIX_LENGTH.test(length)) return null;
  const isMapped = size === 32 && start.includes(":");
  const bits = Number(length) - (isMapped ? MAPPED_BITS : 0);
  return bits < 0 || bits > size ? null : { address, bits };
}

function isWithin(address: Address, range: AddressRange): boolean {
  return address.kind() === range.address.kind() && address.match(range.address, range.bits);
}

function isFirstOf({ address, bits }: AddressRange): boolean {
  const bytes = address.toByteArray();
  return bytes.every((byte, index) => {
    const counted = Math.min(Math.max(bits - index * 8, 0), 8);
    return (byte & (0xff >> counted)) === 0;
  });
}

function sizeOf(address: Address): 32 | 128 {
  return address.kind() === "ipv4" ? 32 : 128;
}
