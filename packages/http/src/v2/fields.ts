import {
  createIdentityInput,
  createKeyInput,
  createKeysInput,
  listKeysInput,
  updateKeyInput,
  verifyKeyInput,
} from "@latchkey/core";
import { z } from "zod";

// Fields are those of v1, with their bounds, wherever v2 has the same field or the same value under another name.

/** Fields of keys.createKey in v1. */
export const newKey: (typeof createKeyInput)["shape"] = createKeyInput.shape;

/** Fields of keys.updateKey in v1. */
export const changedKey: (typeof updateKeyInput)["shape"] = updateKeyInput.shape;

/** Fields of one key of migrations.createKeys in v1. */
export const importedKey: (typeof createKeysInput)["element"]["shape"] =
  createKeysInput.element.shape;

/** Fields of keys.verifyKey in v1. */
export const question: (typeof verifyKeyInput)["shape"] = verifyKeyInput.shape;

/** Limits of keys and of identities. */
export const ratelimits: (typeof createIdentityInput)["shape"]["ratelimits"] =
  createIdentityInput.shape.ratelimits;

/** `limit` and `cursor` of a page. */
export const page = {
  limit: listKeysInput.shape.limit.describe("Largest number of items on the page."),
  cursor: listKeysInput.shape.cursor,
};

/** An id, or a name that is as good. */
export const anyId = z
  .string({ error: "must be a string of 1 to 512 characters" })
  .min(1, { error: "must be a string of 1 to 512 characters" })
  .max(512, { error: "must be a string of 1 to 512 characters" });

/** Uses of a new key. */
export const newCredits = z
  .strictObject({ remaining: newKey.remaining.unwrap().nullable(), refill: newKey.refill })
  .describe("Uses of the key; unlimited if `remaining` is `null`, or without `credits`.")
  .optional();

type Credits = z.input<typeof newCredits>;

/** `credits` as the fields of v1. */
export function usesOf(credits: Credits) {
  const { remaining, refill } = credits ?? {};
  return { remaining: remaining ?? undefined, refill };
}

/** Where the fields of v1 for uses are here: in `credits`. */
export function pathInCredits(path: string): string {
  return path.replace(/^(?=(?:remaining|refill)\b)/, "credits.");
}
