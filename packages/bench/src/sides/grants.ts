import type { PermissionQuery } from "@latchkey/core";

/** An IPv4 CIDR range: network address and mask. */
interface Range {
  readonly network: number;
  readonly mask: number;
}

/** Whether a set of permissions satisfies any of the lists; null: none is required. */
export function isGranted(
  granted: ReadonlySet<string>,
  anyOf: readonly (readonly string[])[] | null,
): boolean {
  if (anyOf === null) return true;
  for (const all of anyOf) if (all.every((name) => granted.has(name))) return true;
  return false;
}

/** The permission if exactly one is required, so that one lookup in the set decides; otherwise null. */
export function onlyPermission(anyOf: readonly (readonly string[])[] | null): string | null {
  const [first = []] = anyOf ?? [];
  return anyOf?.length === 1 && first.length === 1 ? (first[0] ?? null) : null;
}

/** Parses a range such as `192.0.2.0/24`; null stays null. */
export function rangeOf(cidr: string | null): Range | null {
  if (cidr === null) return null;
  const [address = "", bits = "32"] = cidr.split("/");
  const mask = -(2 ** (32 - Number(bits)));
  return { network: numberOf(address) & mask, mask };
}

/** Whether an address is in a range. A range of null contains every address; an address of null is in no other range. */
export function isInRange(range: Range | null, address: string | null): boolean {
  return range === null || (address !== null && (numberOf(address) & range.mask) === range.network);
}

function numberOf(address: string): number {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
  return (a << 24) | (b << 16) | (c << 8) | d;
}

/** The missing permissions of a query that is not granted, in the shortest form. */
export function missingOf(
  granted: ReadonlySet<string>,
  anyOf: readonly (readonly string[])[],
): PermissionQuery {
  const ways = anyOf.map((all) => {
    const names = all.filter((name) => !granted.has(name));
    return names.length === 1 ? (names[0] as string) : { and: names };
  });
  return ways.length === 1 ? (ways[0] as PermissionQuery) : { or: ways };
}
