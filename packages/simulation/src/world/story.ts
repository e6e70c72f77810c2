import { LatchkeyError } from "@latchkey/core";
import type { Outcome } from "../history.js";

/** A value in a line of a story. */
export function asText(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.length > 160 ? `${text.slice(0, 157)}...` : text;
}

/** The outcome of a call in a line of a story. */
export function describe(outcome: Outcome): string {
  if (outcome.kind === "returned") return asText(outcome.value);
  if (outcome.kind !== "failed") return outcome.kind;
  const { error } = outcome;
  if (error instanceof LatchkeyError)
    return `${error.code}${error.outcome === undefined ? "" : ` (${error.outcome})`}: ${error.message}`;
  return String(error);
}
