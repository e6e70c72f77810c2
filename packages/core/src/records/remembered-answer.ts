import type { JsonValue } from "../lib/json.js";
import type { EpochMs } from "../time.js";
import { defineRecord, unlessEmpty, type VersionedHead } from "./record-type.js";

/** A value that may be undefined, in JSON. */
export interface Held {
  readonly value?: JsonValue;
}

/** The memory of a write with an `idempotencyKey`, so that its repeat returns the same and writes nothing. */
export interface RememberedAnswer extends VersionedHead {
  /** Digest of actor and idempotency key: its unique name. */
  readonly caller: string;
  /** Digest of the operation and its input, which holds the idempotency key too. */
  readonly input: string;
  /** When it was first called, by the clock of the caller. */
  readonly at: EpochMs;
  /** When it was written, by the store's own clock. */
  readonly storedAt: EpochMs;
  /** The result, without secrets; null until the write is complete. */
  readonly answer: Held | null;
  /** Results of its steps so far, by number; a step that wrote nothing has none. */
  readonly steps: { readonly [step: string]: JsonValue };
  /** The identities that it read or wrote, so that erasing one finds it. */
  readonly identityIds: readonly string[];
}

export const CALLER_INDEX = "caller";

const NO_STEPS: RememberedAnswer["steps"] = Object.freeze({});

/** Remembered answers: found by the digest of actor and idempotency key. */
export const rememberedAnswerType = defineRecord<RememberedAnswer>({
  kind: "rememberedAnswer",
  write: ({ caller, input, at, storedAt, answer, steps, identityIds }) => ({
    caller,
    input,
    at,
    storedAt,
    answer: answer as JsonValue,
    steps: Object.keys(steps).length === 0 ? undefined : steps,
    identityIds: unlessEmpty(identityIds),
  }),
  read: (body, head) => ({
    ...head,
    caller: body.text("caller"),
    input: body.text("input"),
    at: body.whole("at"),
    storedAt: body.whole("storedAt"),
    answer: body.jsonOrNull("answer"),
    steps: body.jsonOrNull("steps") ?? NO_STEPS,
    identityIds: body.texts("identityIds"),
  }),
  claims: ({ caller }) => [{ index: CALLER_INDEX, value: caller }],
  smallLists: ({ identityIds }) => identityIds,
});
