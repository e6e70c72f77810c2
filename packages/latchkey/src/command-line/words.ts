/** A number with its noun: `1 key`, `2 keys`, `2 identities`. */
export function plural(count: number, thing: string): string {
  if (count === 1) return `1 ${thing}`;
  return `${count} ${thing.endsWith("y") && !thing.endsWith("ey") ? `${thing.slice(0, -1)}ie` : thing}s`;
}
