import { OPERATIONS as CORE_OPERATIONS, type InputOf, type InputSchema } from "@latchkey/core";
import { z } from "zod";

// Wherever v2 has a field of v1, or the same value under another name, it uses the field of v1, with its bounds.

/** The schema of each field of an input. */
type Fields<Input> = {
  readonly [Name in keyof Input]-?: undefined extends Input[Name]
    ? z.ZodOptional<z.ZodType<Exclude<Input[Name], undefined>, Exclude<Input[Name], undefined>>>
    : z.ZodType<Input[Name], Input[Name]>;
};

/** The fields of an input of core, whose type says only that it is a schema. */
export function fieldsOf<Input>(schema: InputSchema<Input, Input>): Fields<Input> {
  return (schema as unknown as { readonly shape: Fields<Input> }).shape;
}

/** Some fields of an object, in this order. */
export function pick<Of extends object, const Name extends keyof Of>(
  fields: Of,
  ...names: readonly Name[]
): Pick<Of, Name> {
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as Pick<Of, Name>;
}

type NewKey = z.input<typeof CORE_OPERATIONS.createKey.input>;

/** Fields of keys.createKey in v1. */
export const newKey: Fields<NewKey> = fieldsOf(CORE_OPERATIONS.createKey.input);

type ImportedKey = InputOf<"createKeys">[number];

/** Fields of a key of migrations.createKeys in v1: unlike a new key, it may already be used up. */
export const importedKey: Fields<ImportedKey> = fieldsOf(
  (
    CORE_OPERATIONS.createKeys.input as unknown as {
      element: InputSchema<ImportedKey, ImportedKey>;
    }
  ).element,
);

/** Fields of keys.updateKey in v1. */
export const changedKey: Fields<InputOf<"updateKey">> = fieldsOf(CORE_OPERATIONS.updateKey.input);

/** Fields of keys.verifyKey in v1. */
export const question: Fields<InputOf<"verifyKey">> = fieldsOf(CORE_OPERATIONS.verifyKey.input);

/** Limits of keys and of identities. */
export const { ratelimits } = fieldsOf(CORE_OPERATIONS.createIdentity.input);

const { limit, cursor } = fieldsOf(CORE_OPERATIONS.listKeys.input);

/** `limit` and `cursor` of a page. */
export const page = {
  limit: limit.describe("Largest number of items on the page."),
  cursor,
};

/** An id, or a name that is accepted instead. */
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

/** Path of a field in v2: the fields of v1 for uses are in `credits`. */
export function pathInCredits(path: string): string {
  return path.replace(/^(?=(?:remaining|refill)\b)/, "credits.");
}
