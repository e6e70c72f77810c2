import { LatchkeyError } from "@latchkey/core";
import { expect } from "vitest";

/** The error of a rejected call, which must be a `LatchkeyError` without anything of the driver. */
export async function errorOf(call: unknown): Promise<LatchkeyError> {
  const error: unknown = await Promise.resolve(call).then(
    () => {
      throw new Error("the call was answered");
    },
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(LatchkeyError);
  expect((error as LatchkeyError).cause).toBeUndefined();
  return error as LatchkeyError;
}
