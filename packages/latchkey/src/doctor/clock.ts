import { instant } from "../command-line/output.js";
import type { DoctorContext } from "./doctor-context.js";
import { type Finding, fine, wrong } from "./finding.js";

/** The smallest difference between two clocks that is reported, in ms. */
const MAX_DIFFERENCE_MS = 60_000;

/** Compares the clock of this machine with the store's, if the store has one. */
export async function checkClock({ latchkey, store }: DoctorContext): Promise<Finding> {
  const before = latchkey.now();
  const theirs = await store.readClock?.();
  const after = latchkey.now();
  if (theirs === undefined)
    return fine("clock", `${instant(before)}; the store has none of its own`);
  // The store's clock was read between the two instants, so only the certain part counts.
  const difference = theirs < before ? before - theirs : Math.min(0, after - theirs);
  if (difference === 0) return fine("clock", "this machine and the store agree");
  const seconds = Math.round(Math.abs(difference) / 1_000);
  const text = `this machine is ${seconds} s ${difference > 0 ? "ahead of" : "behind"} the store`;
  return Math.abs(difference) > MAX_DIFFERENCE_MS ? wrong("clock", text) : fine("clock", text);
}
