/** Whose uses a key takes: its own, or those shared by all keys of its identity. */
export type UsesOwner = "key" | "identity";

export type SpendDecision =
  | { readonly kind: "spend"; readonly remaining: number | null }
  | { readonly kind: "refuse"; readonly remaining: number };

/** Decides whether `cost` uses can be spent: all of them, or none. An exhausted counter refuses every cost, 0 included. */
export function decideSpend(remaining: number | null, cost: number): SpendDecision {
  if (remaining === null) return { kind: "spend", remaining: null };
  if (remaining <= 0 || cost > remaining) return { kind: "refuse", remaining };
  return { kind: "spend", remaining: remaining - cost };
}
