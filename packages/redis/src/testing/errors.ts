import { LatchkeyError } from "@latchkey/core";
import { expect } from "vitest";

/** The error of a rejected call, which must be a `LatchkeyError` without anything of the driver. */
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

/**
 * Whether a call settles before a timer that starts with it. A busy machine delays both but keeps their order; a clock would only show
 * how busy it is.
 */
export async function isSettledWithin(ms: number, call: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const settled = call.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, late]).finally(() => clearTimeout(timer));
}

/** Repeats a call until it is answered. */
export async function untilAnswered<Answer>(
  call: () => Promise<Answer>,
  withinMs = 60_000,
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

/** Asks again every 10 ms until the answer is yes. */
export async function until(isSo: () => Promise<boolean>, withinMs = 60_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error("it did not become so in time");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
