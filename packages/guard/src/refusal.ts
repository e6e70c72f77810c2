import type { DefaultTypes, LatchkeyTypes, ValidVerdict, VerifyOutcome } from "@latchkey/core";
import type { HeaderFields } from "./rate-limit-fields.js";

/** The verdict on a valid key. */
export type ApiKey<Types extends LatchkeyTypes = DefaultTypes> = ValidVerdict<Types>;

/** The verdict on a valid key, with the names and metadata that a latchkey declares: `ApiKeyOf<typeof latchkey>`. */
export type ApiKeyOf<Guarded extends { readonly "~types"?: LatchkeyTypes }> = ApiKey<
  NonNullable<Guarded["~types"]>
>;

/** The verdict on a refused key. */
export type RefusedVerdict = Exclude<VerifyOutcome, { readonly valid: true }>;

/** Why a request is refused: the code of a verdict, or one of the guard's own codes. */
export type RefusalCode =
  | RefusedVerdict["code"]
  /** No key was presented. */
  | "KEY_MISSING"
  /** What was presented is not a key, or there was more than one. */
  | "KEY_MALFORMED"
  /** Too many requests from its address ended in 401. */
  | "ADDRESS_LIMITED"
  /** The store, or a function of yours, did not answer in time. */
  | "STORE_UNAVAILABLE"
  /** A mistake in your server: `onError` gets it, and the client learns nothing. */
  | "INTERNAL_SERVER_ERROR";

/** A refusal as data: the response, and why. */
export interface Refusal {
  /** False. An own field, so that a polluted prototype cannot change it. */
  readonly admitted: false;
  readonly code: RefusalCode;
  /** HTTP status. */
  readonly status: number;
  /** Header fields by name. */
  readonly headers: HeaderFields;
  /** A text is sent as it is, an object as JSON. */
  readonly body: string | Readonly<Record<string, unknown>>;
  /** Null if there is no verdict. */
  readonly verdict: RefusedVerdict | null;
}

/** The decision to let a request pass. */
export interface Admission<
  Types extends LatchkeyTypes = DefaultTypes,
  Key extends ApiKey<Types> = ApiKey<Types>,
> {
  readonly admitted: true;
  /** Null only if the key is optional and none was presented. */
  readonly apiKey: Key | null;
  /** Header fields to add to the response: they describe the evaluated limits. */
  readonly headers: HeaderFields;
  /**
   * Call it when the response has ended, complete or aborted: it frees slots, and ends a reservation that the handler has not ended. Until
   * then, the hold is renewed. Only the first call counts. Absent if nothing is held.
   *
   * @param how - `"release"` if no handler was called.
   */
  readonly end?: (how?: "release") => void;
}

/** The decision to refuse a request, with the body as text. */
export interface Refused extends Refusal {
  readonly body: string;
}

/** An admission or a refusal. */
export type Decision<
  Types extends LatchkeyTypes = DefaultTypes,
  Key extends ApiKey<Types> = ApiKey<Types>,
> = Admission<Types, Key> | Refused;
