import { LatchkeyError } from "@latchkey/core";
import { damaged } from "./values.js";

/** What a script answered: a list whose first item is often a status. */
export type Reply = readonly unknown[];

/** Takes the answer of a script as the list that it is. */
export function asReply(answer: unknown): Reply {
  return Array.isArray(answer) ? answer : damaged();
}

/** The error for a status that the script cannot answer here: a mistake of ours, not of the caller. */
export function unexpected(status: unknown): LatchkeyError {
  const isWord = typeof status === "string" && /^[A-Z_]{1,32}$/.test(status);
  return new LatchkeyError(
    "INTERNAL_SERVER_ERROR",
    `a Redis script answered ${isWord ? status : "something unknown"}`,
  );
}
