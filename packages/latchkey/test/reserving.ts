import type { InputOf, Latchkey, LatchkeyError } from "@latchkey/core";
import { expect } from "vitest";
import { rejectionOf } from "./test-context.js";

/** Makes a reservation, and answers its id. */
export async function reserve(latchkey: Latchkey, input: InputOf<"reserve">): Promise<string> {
  const verdict = await latchkey.reserve(input);
  expect(verdict.code).toBe("VALID");
  return verdict.code === "VALID" ? verdict.reservationId : "";
}

/** How a call was refused: code, reason, and details where there are some. */
export async function refusalOf(call: Promise<unknown>) {
  const { code, reason, details } = (await rejectionOf(call)) as LatchkeyError;
  return Object.keys(details).length === 0 ? [code, reason] : [code, reason, details];
}

/** Uses that a call asks for. */
export const uses = (cost: number) => ({ remaining: { cost } });
