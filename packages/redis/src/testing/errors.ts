import { LatchkeyError } from "@latchkey/core";
import { expect } from "vitest";

/** The error that a call rejects with, which has to be a `LatchkeyError` that carries nothing of the driver. */
export async function errorOf(call: Promise<unknown>): Promise<LatchkeyError> {
  const error: unknown = await call.then(
    () => {
      throw new Error("the call was answered");
    },
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(LatchkeyError);
  expect((error as LatchkeyError).cause).toBeUndefined();
  return error as LatchkeyError;
}

/** Repeats a call until it is answered. */
export async function untilAnswered<Answer>(
  call: () => Promise<Answer>,
  withinMs = 5_000,
): Promise<Answer> {
  const end = performance.now() + withinMs;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Repeats a question, in turns of the event loop, until its answer is yes. */
export async function until(isSo: () => Promise<boolean>, withinMs = 5_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error("it did not become so in time");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
