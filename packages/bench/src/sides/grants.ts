import type { PermissionQuery } from "@latchkey/core";

/** The address part of a CIDR range of IPv4, and how much of it counts. */
interface Range {
  readonly network: number;
  readonly mask: number;
}

/** Whether a set of permissions satisfies any of the lists; null: none is asked for. */
export function isGranted(
  granted: ReadonlySet<string>,
  anyOf: readonly (readonly string[])[] | null,
): boolean {
  if (anyOf === null) return true;
  for (const all of anyOf) if (all.every((name) => granted.has(name))) return true;
  return false;
}

/** The permission where just one is asked for, which is a look into the set; else null. */
export function onlyPermission(anyOf: readonly (readonly string[])[] | null): string | null {
  const [first = []] = anyOf ?? [];
  return anyOf?.length === 1 && first.length === 1 ? (first[0] ?? null) : null;
}

/** A range such as `192.0.2.0/24`, as the hand-written limits keep it. */
export function rangeOf(cidr: string | null): Range | null {
  if (cidr === null) return null;
  const [address = "", bits = "32"] = cidr.split("/");
  const mask = -(2 ** (32 - Number(bits)));
  return { network: numberOf(address) & mask, mask };
}

/** Whether an address is in a range; null: every address is. */
export function isInRange(range: Range | null, address: string | null): boolean {
  return range === null || (address !== null && (numberOf(address) & range.mask) === range.network);
}

function numberOf(address: string): number {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
  return (a << 24) | (b << 16) | (c << 8) | d;
}

/** What is not held of a query that is not granted, as few words as it takes. */
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
