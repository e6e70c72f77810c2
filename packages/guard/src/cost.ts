import { isWhole } from "@latchkey/core";

/** A whole number >= 0, or a function that returns one for the request. 0 takes nothing. */
export type Cost<Request> = number | ((request: Request) => number | Promise<number>);

/** The cost if it is fixed. 1 for a function, whose result is known only with a request: enough to check a question. */
export function fixedCost(cost: Cost<never> = 1): number {
  return typeof cost === "function" ? 1 : cost;
}

/** @throws TypeError naming the field, if its function returned anything but a whole number >= 0. */
export function readCost(cost: unknown, name: string): number {
  if (isWhole(cost)) return cost;
  throw new TypeError(
    `"${name}" must be a whole number >= 0: its function returned something else`,
  );
}
