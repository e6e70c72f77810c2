import { z } from "zod";
import type { LatchkeyError } from "../../errors.js";
import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import { secretShape } from "../../secrets/format.js";
import {
  HASH_VARIANTS,
  type HashVariant,
  importedHash,
  portableSha256,
  type SecretHash,
} from "../../secrets/hash.js";
import { canShowStart, importedStart, MAX_START_LENGTH } from "../../secrets/shown-start.js";
import {
  anyText,
  evenWithIssues,
  type IssueSink,
  oneOf,
  optional,
  prefix,
  refuseField,
  text,
  wholeNumber,
} from "../input.js";
import type { BesideInput } from "../repeats/repetition-input.js";
import { instant } from "../time-input.js";
import { addSettingsIssues, type KeySettingsInput, keySettingsFields } from "./settings.js";

const importedHashField = z
  .strictObject({
    value: anyText,
    variant: oneOf(HASH_VARIANTS),
  })
  .transform(({ value, variant }, sink): SecretHash => {
    const hash = importedHash(value, variant);
    if (hash === null) refuseField(sink, "value", HASH_ERRORS[variant]);
    return hash ?? z.NEVER;
  });

const HASH_ERRORS = {
  sha256_base64: "must be 32 bytes in base64: 44 characters, the last of them =",
  sha256_base64url: "must be 32 bytes in base64url: 43 characters without padding",
  sha256_hex: "must be 32 bytes in hexadecimal: 64 digits",
};

const PLAINTEXT_ERROR = "must be a string of 1 to 512 printable ASCII characters";

const plaintext = z
  .string({ error: PLAINTEXT_ERROR })
  .refine((value) => secretShape(value) !== "malformed", { error: PLAINTEXT_ERROR })
  // A verification would refuse it without asking the store, so it could never be used.
  .refine((value) => secretShape(value) !== "damaged", {
    error: "looks like a secret of latchkey, but its checksum is wrong: it would never verify",
  });

/** A key of another system, with its hash or its plaintext. */
export type ImportKeyInput<Types extends LatchkeyTypes = DefaultTypes> = KeySettingsInput<Types> & {
  /** When the other system issued it: Unix epoch ms or a `Date`, not later than now. Default: now. */
  readonly createdAt?: number | Date | undefined;
  /** The SHA-256 of the whole secret, instead of `plaintext`. */
  readonly hash?: ImportedHashInput | undefined;
  /** The whole secret, instead of `hash`: 1 to 512 printable ASCII characters. */
  readonly plaintext?: string | undefined;
  /** Start of the secret to show: at most 32 characters. Default: derived from `plaintext`, leaving 112 bits unknown. */
  readonly start?: string | undefined;
  /** Prefix of the secret, shown if neither `start` nor `plaintext` is given: at most 16 of `A-Z a-z 0-9 _ -`. */
  readonly prefix?: string | undefined;
};

/** Input of createKeys: 1 to 100 keys that another system issued, which name at most 10,000 roles and permissions in total. */
export type CreateKeysInput<Types extends LatchkeyTypes = DefaultTypes> =
  readonly ImportKeyInput<Types>[];

/** Imported keys. */
export interface CreatedKeys {
  /** `key_…`, in the order given. */
  readonly keyIds: readonly string[];
}

/** Options of an import that skips refused keys. */
export interface CreateKeysOptions extends BesideInput {
  /** A refused key does not stop the others. */
  readonly partial: true;
  /** Whether nothing is written, and the result says what would be. Default: false. */
  readonly dryRun?: boolean | undefined;
}

/** Result for one key. */
export interface ImportedKeyResult {
  /** Null in a dry run; absent if the key was refused. */
  readonly keyId?: string | null;
  /** Why it was refused. Paths begin with the field. */
  readonly error?: LatchkeyError;
}

/** Result of an import that skips refused keys. */
export interface PartlyCreatedKeys {
  /** One for each key, in the order given. */
  readonly results: readonly ImportedKeyResult[];
}

/** The hash of a secret, as another system stored it. */
export type ImportedHashInput = {
  /** 44 characters with `sha256_base64`, 43 with `sha256_base64url`, 64 digits with `sha256_hex`. */
  readonly value: string;
  /** Its encoding: base64 with padding, base64url without, or hexadecimal. */
  readonly variant: HashVariant;
};

/**
 * One key of another system: its hash or its plaintext, and the settings of createKey. `remaining` may be 0: the key was used up there. The
 * secret begins with `prefix`, which is shown if neither `start` nor the plaintext is known.
 */
export const importedKey = z
  .strictObject({
    ...keySettingsFields,
    ...optional({
      remaining: wholeNumber(0),
      createdAt: instant(0),
      hash: importedHashField,
      plaintext,
      start: text(0, MAX_START_LENGTH),
      prefix,
    }),
  })
  .superRefine(addImportIssues, evenWithIssues);

/** An {@link importedKey}, checked. */
export type ImportedKey = z.output<typeof importedKey>;

/** The start of an imported key's secret, to store and show; empty if only its hash is known. */
export function startOf({ start, prefix, plaintext }: ImportedKey): string {
  if (start !== undefined) return start;
  if (plaintext !== undefined) return importedStart(plaintext);
  return prefix ? `${prefix}_` : "";
}

function addImportIssues(imported: unknown, sink: IssueSink): void {
  addSettingsIssues(imported, sink);
  const { hash, plaintext, start, recoverable } = imported as Readonly<Record<string, unknown>>;
  const refuse = (path: string, message: string) => refuseField(sink, path, message);
  if (hash === undefined && plaintext === undefined)
    refuse(
      "hash",
      "is required if plaintext is not given: createKeys takes keys that exist, createKey makes new ones",
    );
  if (hash !== undefined && plaintext !== undefined)
    refuse("plaintext", "must not be given with hash");
  if (recoverable === true && plaintext === undefined) refuse("recoverable", "needs plaintext");
  if (typeof start === "string" && hash === portableSha256(start))
    refuse("start", "must not be the secret itself");
  if (typeof plaintext === "string" && typeof start === "string" && !canShowStart(plaintext, start))
    refuse(
      "start",
      "must be the beginning of plaintext: a prefix with its _, or so little that 112 bits stay unknown",
    );
}
