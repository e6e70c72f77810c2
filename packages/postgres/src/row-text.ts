import type { DueRefill } from "@latchkey/core";

/** An array within a row, as PostgreSQL writes it. */
export function listOf(items: readonly unknown[]): string {
  return quoted(`{${items.join(",")}}`);
}

export function quoted(text: string): string {
  return `"${escaped(text)}"`;
}

export function escaped(text: string): string {
  return text.replace(/["\\]/g, "\\$&");
}

/** The fields of a row; null and undefined become null. */
export function fieldsOf(fields: readonly unknown[]): string {
  return fields.map((field) => field ?? "").join(",");
}

/** Amount of a refill for a charge: null for one that carries over, which only `settle` computes. */
export function amountOf({ amount, carry }: DueRefill): number | null {
  return carry === undefined ? amount : null;
}
