import type { InputOf, Latchkey, LatchkeyError } from "@latchkey/core";
import { expect } from "vitest";
import { rejectionOf } from "./test-context.js";

/** Makes a reservation, and returns its id. */
export async function reserve(latchkey: Latchkey, input: InputOf<"reserve">): Promise<string> {
  const verdict = await latchkey.reserve(input);
  expect(verdict.code).toBe("VALID");
  return verdict.code === "VALID" ? verdict.reservationId : "";
}

/** The refusal of a call: code, reason, and details if there are any. */
export async function refusalOf(call: Promise<unknown>) {
  const { code, reason, details } = (await rejectionOf(call)) as LatchkeyError;
  return Object.keys(details).length === 0 ? [code, reason] : [code, reason, details];
}

/** The field for the uses of a call. */
export const uses = (cost: number) => ({ remaining: { cost } });
