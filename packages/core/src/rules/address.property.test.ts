import { BlockList, isIP } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalAddress, canonicalAddressRange, isAddressListed } from "./address.js";

const ipv4 = fc.ipV4();
/** Without the form `::192.0.2.7`, which is refused. */
const ipv6 = fc.ipV6().filter((text) => !/^::\d+\./.test(text));
const address = fc.oneof(ipv4, ipv6);

/** An address of the range's own width, with all bits beyond the first `bits` set to 0. */
function rangeAround(text: string, bits: number): string {
  const canonical = canonicalAddress(text) as string;
  const candidates = canonical.includes(":")
    ? ipv6Parts(canonical)
    : canonical.split(".").map(Number);
  const width = canonical.includes(":") ? 16 : 8;
  const maddress = candidates.map((part, index) => {
    const counted = Math.min(Math.max(bits - index * width, 0), width);
    return part & ~((1 << (width - counted)) - 1);
  });
  return canonical.includes(":")
    ? `${maddress.map((part) => part.toString(16)).join(":")}/${bits}`
    : `${maddress.join(".")}/${bits}`;
}

function ipv6Parts(canonical: string): number[] {
  const [head = "", tail = ""] = canonical.split("::");
  const parts = (text: string) => (text === "" ? [] : text.split(":"));
  const missing = 8 - parts(head).length - parts(tail).length;
  const zeros = Array.from({ length: missing }, () => "0");
  return [...parts(head), ...zeros, ...parts(tail)].map((part) => Number.parseInt(part, 16));
}

test("an address is in its own range of n bits, for every n", () => {
  fc.assert(
    fc.property(address, (text) => {
      const canonical = canonicalAddress(text) as string;
      const size = canonical.includes(":") ? 128 : 32;
      for (let bits = 0; bits <= size; bits += 1) {
        const range = canonicalAddressRange(rangeAround(text, bits));
        expect(range).not.toBeNull();
        expect(isAddressListed([range as string], canonical)).toBe(true);
      }
    }),
    { numRuns: 50 },
  );
});

test("an address that differs in one bit is in its ranges up to that bit, and in none beyond", () => {
  fc.assert(
    fc.property(ipv4, fc.integer({ min: 0, max: 31 }), (text, flipped) => {
      const octets = text.split(".").map(Number);
      const at = Math.floor(flipped / 8);
      const other = octets.with(at, (octets[at] as number) ^ (0x80 >> (flipped % 8))).join(".");
      for (let bits = 0; bits <= 32; bits += 1) {
        expect(isAddressListed([rangeAround(text, bits)], other)).toBe(bits <= flipped);
      }
    }),
    { numRuns: 50 },
  );
});

test("the canonical form of an address or a range is its own canonical form", () => {
  fc.assert(
    fc.property(address, fc.nat(128), (text, bits) => {
      const canonical = canonicalAddress(text) as string;
      expect(canonicalAddress(canonical)).toBe(canonical);
      const size = canonical.includes(":") ? 128 : 32;
      const range = canonicalAddressRange(rangeAround(text, bits % (size + 1))) as string;
      expect(canonicalAddressRange(range)).toBe(range);
    }),
  );
});

test("an IPv4 address and its IPv4-mapped IPv6 form are one address, alone and in ranges", () => {
  fc.assert(
    fc.property(ipv4, fc.nat(32), (text, bits) => {
      expect(canonicalAddress(`::ffff:${text}`)).toBe(canonicalAddress(text));
      const [start, length] = rangeAround(text, bits).split("/");
      const mapped = canonicalAddressRange(`::ffff:${start}/${Number(length) + 96}`);
      expect(mapped).toBe(canonicalAddressRange(`${start}/${length}`));
    }),
  );
});

test("a list holds the same addresses as Node's own block list", () => {
  const entry = fc.tuple(address, fc.nat(128));
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 5 }), address, (entries, text) => {
      const list = entries.map(([around, bits]) => {
        const size = (canonicalAddress(around) as string).includes(":") ? 128 : 32;
        return canonicalAddressRange(rangeAround(around, bits % (size + 1))) as string;
      });
      const address = canonicalAddress(text) as string;
      const family = (of: string) => (of.includes(":") ? "ipv6" : "ipv4");
      // One kind at a time: Node counts IPv4 addresses among the IPv6 ranges.
      const blockList = new BlockList();
      for (const range of list.filter((range) => family(range) === family(address))) {
        const [start = "", bits = family(range) === "ipv6" ? 128 : 32] = range.split("/");
        blockList.addSubnet(start, Number(bits), family(range));
      }
      expect(isAddressListed(list, address)).toBe(blockList.check(address, family(address)));
    }),
    { numRuns: 500 },
  );
});

test("every text that is read as an address is an address for Node too", () => {
  const near = fc.stringMatching(/^[0-9a-fxX:.%/ ]{0,24}$/);
  fc.assert(
    fc.property(fc.oneof(near, fc.string(), address), (text) => {
      const canonical = canonicalAddress(text);
      if (canonical === null) return;
      expect(isIP(text)).not.toBe(0);
      expect(isIP(canonical)).not.toBe(0);
    }),
    { numRuns: 2_000 },
  );
});

test("every address that Node accepts is read, except the old form of IPv4 in IPv6", () => {
  fc.assert(
    fc.property(address, (text) => {
      expect(canonicalAddress(text)).not.toBeNull();
    }),
  );
});
