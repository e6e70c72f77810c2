import type { DefaultTypes, LatchkeyTypes, ValidVerdict, VerifyOutcome } from "@latchkey/core";
import type { HeaderFields } from "./rate-limit-fields.js";

/** The verdict on a key that is good. */
export type ApiKey<Types extends LatchkeyTypes = DefaultTypes> = ValidVerdict<Types>;

/** The verdict on a key that is good, with the names and the metadata that a latchkey knows: `ApiKeyOf<typeof latchkey>`. */
export type ApiKeyOf<Guarded extends { readonly "~types"?: LatchkeyTypes }> = ApiKey<
  NonNullable<Guarded["~types"]>
>;

/** The verdict on a key that is not. */
export type RefusedVerdict = Exclude<VerifyOutcome, { readonly valid: true }>;

/** Why a request is refused: a verdict, or what stood in its way. */
export type RefusalCode =
  | RefusedVerdict["code"]
  /** No key was presented. */
  | "KEY_MISSING"
  /** Something was presented that is no key, or more than one. */
  | "KEY_MALFORMED"
  /** Too many requests from its address ended in 401. */
  | "ADDRESS_LIMITED"
  /** The store did not answer, or what the host adds did not, in time. */
  | "STORE_UNAVAILABLE"
  /** A mistake of the host's: its error listener knows more, and the client nothing. */
  | "INTERNAL_SERVER_ERROR";

/** A refusal as data: what to answer, and why. */
export interface Refusal {
  /** False, said by the refusal itself: what it does not say, a polluted prototype might. */
  readonly admitted: false;
  readonly code: RefusalCode;
  /** HTTP status. */
  readonly status: number;
  /** Header fields by name. */
  readonly headers: HeaderFields;
  /** A text is sent as it is, an object as JSON. */
  readonly body: string | Readonly<Record<string, unknown>>;
  /** Null where no verdict was given. */
  readonly verdict: RefusedVerdict | null;
}

/** A request that may pass. */
export interface Admission<
  Types extends LatchkeyTypes = DefaultTypes,
  Key extends ApiKey<Types> = ApiKey<Types>,
> {
  readonly admitted: true;
  /** Null only on a route where a key is optional, and none was presented. */
  readonly apiKey: Key | null;
  /** To add to the answer: the limits that were evaluated. */
  readonly headers: HeaderFields;
  /**
   * Says that the response has ended, whether it was finished or broken off: slots are freed, and what the handler has not settled is settled.
   * Until then all of it is renewed. Only the first call counts. Absent where nothing is held.
   *
   * @param how - `"release"` where no handler was called.
   */
  readonly end?: (how?: "release") => void;
}

/** A request that may not pass, with the body as text. */
export interface Refused extends Refusal {
  readonly body: string;
}

/** What becomes of a request. */
export type Decision<
  Types extends LatchkeyTypes = DefaultTypes,
  Key extends ApiKey<Types> = ApiKey<Types>,
> = Admission<Types, Key> | Refused;
