import fc from "fast-check";
import { hasCode } from "../errors.js";

/** Values that no field of an input has. */
export const junk = fc.constantFrom<unknown>(
  ...[null, undefined, true, "1", 7, [], {}, [null], { cost: 1 }],
);

/** Usual values, and now and then another kind of value. */
export const orJunk = <Value>(usual: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 12, arbitrary: usual as fc.Arbitrary<unknown> }, junk);

/** Objects with some of these fields. */
export const fields = (of: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(of, { requiredKeys: [] }) as fc.Arbitrary<Record<string, unknown>>;

/** What reading an input returns; null if it is refused. */
export function unlessRefused<Read>(read: () => Read): Read | null {
  try {
    return read();
  } catch (error) {
    if (hasCode(error, "BAD_REQUEST")) return null;
    throw error;
  }
}
