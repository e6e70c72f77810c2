import {
  conflict,
  corruptRecord,
  LatchkeyError,
  type LatchkeyErrorOptions,
  unavailable,
} from "../../errors.js";
import { lowestIdAt } from "../../lib/id.js";
import type { JsonValue } from "../../lib/json.js";
import {
  CALLER_INDEX,
  type Held,
  type RememberedAnswer,
  rememberedAnswerType,
} from "../../records/remembered-answer.js";
import { isRemembered, mayBeForgotten, REMEMBERED_MS } from "../../rules/repetition.js";
import { afterWriting } from "../../store/after-writing.js";
import type { LoadedRecord, StoredRecordState } from "../../store/key-store.js";
import type { Transaction, TransactionResult } from "../../store/transaction.js";
import type { EpochMs } from "../../time.js";
import type { CallPart, CallResult, OperationContext, Rounds } from "../context.js";
import { decodeOrNull, deleteStored } from "../damaged.js";
import { findRecord, readList } from "../read.js";
import type { MadeFields, RepeatScope } from "./repetition-input.js";

/** Most old answers deleted in one write: more than the one that it adds, so that they do not pile up. */
const FORGOTTEN_AT_ONCE = 4;

type CallContext = Pick<
  OperationContext,
  "store" | "readStoreClock" | "transact" | "workspaceId" | "now" | "newId"
>;

/** The digests that identify a repeat, and what to do for a first call. */
export interface CallDigests {
  /** Digest of the actor and the idempotency key. */
  readonly caller: string;
  /** Digest of the operation and its input. */
  readonly input: string;
  /** Called before the first write of a call that is not a repeat; throws if it may not write. */
  readonly beforeFirst?: (() => void) | undefined;
}

/** The call was completed before, and its result is remembered. */
export class AnsweredBefore extends Error {}

/** An operation that is remembered as a single commit tries to make another one. */
class SeveralCommitsError extends Error {}

/** Creates a call whose repeat returns the same and writes nothing. @see packages/core/decisions/0043-repeats-answer-from-memory.md */
export function createRepeatableCall(
  { store, transact, workspaceId, now, readStoreClock, newId }: CallContext,
  { caller, input, beforeFirst }: CallDigests,
) {
  const want = { kind: "rememberedAnswer", index: CALLER_INDEX, value: caller } as const;
  /** An answer under the same name whose time is over. */
  let ended: RememberedAnswer | null = null;
  let forgettable: readonly StoredRecordState[] = [];
  let storeNow: EpochMs = 0;
  /** Whether the store may already remember something of this call. */
  let isBegun = false;
  /** The state that was remembered when this attempt began; null: none. */
  let begunFrom: string | null = null;
  let isRememberedNow = false;
  let hasWritten = false;
  /** Step 0: what the first call derived from its input. */
  let made: MadeFields | null = null;
  let steps = 0;
  const identityIds = new Set<string>();
  /** Those of them that existed. */
  const knownIdentities = new Set<string>();

  /** The remembered state of this call; null for none. @throws LatchkeyError `CONFLICT` if it is of a call with another input. */
  function judge(loaded: LoadedRecord | null): RememberedAnswer | null {
    ended = null;
    if (loaded === null) return null;
    const known = rememberedAnswerType.decode(loaded.record, workspaceId);
    if (!isRemembered(known.at, now())) {
      ended = known;
      return null;
    }
    if (known.input === input) return known;
    if (hasWritten || begunFrom !== null)
      throw unavailable(
        "another process, whose clock is a day ahead, used this idempotencyKey meanwhile; this write has happened in part",
        "unknown",
      );
    throw conflict(
      "idempotency-key-reused",
      "this idempotencyKey was used for a write with another input; nothing was written",
    );
  }

  const read = async (transaction: Transaction) => judge(await transaction.readOne(want));

  async function look(): Promise<void> {
    const [found, oldest, itsNow] = await Promise.all([
      findRecord({ store, workspaceId }, want),
      readList({ store, workspaceId }, { kind: "rememberedAnswer", limit: FORGOTTEN_AT_ONCE }),
      readStoreClock(),
    ]);
    storeNow = itsNow;
    forgettable = oldest.found.filter(isForgettable);
    const known = judge(found);
    if (known === null) beforeFirst?.();
    else isBegun = true;
    begunFrom = stateOf(known);
    made = (known?.steps[0] as MadeFields | undefined) ?? null;
    refuseAnswered(known);
  }

  function isForgettable({ record }: StoredRecordState): boolean {
    const answer = decodeOrNull(rememberedAnswerType, record, { workspaceId });
    if (answer !== null) return mayBeForgotten(answer, now(), storeNow);
    const isOld = (at: EpochMs) =>
      record.id < lowestIdAt("ans", Math.max(0, at - 2 * REMEMBERED_MS));
    return isOld(now()) && isOld(storeNow);
  }

  /** Writes the remembered state, and deletes a few old ones. */
  function remember(
    transaction: Transaction,
    known: RememberedAnswer | null,
    part: { readonly answer: Held } | { readonly steps: RememberedAnswer["steps"] },
  ): void {
    for (const id of known?.identityIds ?? []) identityIds.add(id);
    const steps = { ...(made && { 0: made }), ...("steps" in part && part.steps) };
    const after = { identityIds: [...identityIds], ...part, steps };
    if (known !== null) {
      transaction.update(rememberedAnswerType, known, { ...known, ...after });
      return;
    }
    for (const { record } of forgettable) {
      // Expects nothing of the record: another call may delete it at the same time.
      if (record.id !== ended?.id) deleteStored(transaction, rememberedAnswerType, record);
    }
    if (ended !== null) transaction.delete(rememberedAnswerType, ended);
    transaction.insert(rememberedAnswerType, {
      id: newId("ans"),
      workspaceId,
      caller,
      input,
      at: now(),
      storedAt: storeNow,
      answer: null,
      version: 1,
      ...after,
    });
  }

  function rememberStep(
    transaction: Transaction,
    known: RememberedAnswer | null,
    step: number,
    value: Held,
  ): void {
    remember(transaction, known, { steps: { ...known?.steps, [step]: value as JsonValue } });
  }

  /** Whether an identity of this call is gone. The commit expects that the others still exist. */
  async function hasLostIdentity(transaction: Transaction): Promise<boolean> {
    for (const id of knownIdentities)
      if ((await transaction.readOne({ kind: "identity", id, expects: "exists" })) === null)
        return true;
    return false;
  }

  /** The state remembered so far, read so that the transaction depends on it. */
  async function readUnanswered(transaction: Transaction): Promise<RememberedAnswer | null> {
    // The first attempt relies on the earlier read. If that is out of date, the insert finds the name taken.
    if (!isBegun && !transaction.isRetry) return null;
    return refuseAnswered(await read(transaction));
  }

  async function isFirst(): Promise<void> {
    await looked;
    if (isRememberedNow)
      throw new SeveralCommitsError("an operation of several commits must say so");
  }

  /** Runs one transaction of the call. `work` says whether it remembered its result, and whether that is the result of the operation. */
  async function transactPart<Answer>(
    work: (
      transaction: Transaction,
      known: RememberedAnswer | null,
    ) => Promise<{
      answer: Answer;
      isWritten: boolean;
      isAnswer?: boolean;
      isRemembered?: boolean;
    }>,
  ): Promise<CallResult<Answer>> {
    await isFirst();
    const { answer: part, usages } = await transact(workspaceId, async (transaction) =>
      work(transaction, await readUnanswered(transaction)),
    );
    isBegun = true;
    hasWritten ||= part.isWritten;
    isRememberedNow = part.isAnswer ?? false;
    return { answer: part.answer, usages, isRemembered: part.isRemembered === true };
  }

  /** @param kind - `whole`: its result is the result of the operation; `made`: remembered although nothing is written. */
  function transactStep<Answer>(
    step: number,
    work: (transaction: Transaction) => Promise<Answer>,
    kind: "whole" | "step" | "made",
  ): Promise<CallResult<Answer>> {
    return transactPart(async (transaction, known) => {
      const before = known?.steps[step] as Held | undefined;
      if (before !== undefined) {
        const answer = fromStoredAnswer(before.value) as Answer;
        return { answer, isWritten: false, isRemembered: true };
      }
      const answer = await work(transaction);
      for (const id of transaction.idsOf("identity")) identityIds.add(id);
      for (const id of transaction.idsOf("identity", true)) knownIdentities.add(id);
      const isWritten = transaction.isWriting || kind === "made";
      const isAnswer = isWritten && kind === "whole" && answer !== undefined;
      if (isAnswer) remember(transaction, known, { answer: held(answer) });
      else if (isWritten) rememberStep(transaction, known, step, held(answer));
      return { answer, isWritten, isAnswer };
    });
  }

  function transactRound<Answer>(
    step: number,
    work: (transaction: Transaction) => Promise<Answer>,
    countOf: (answer: Answer) => number,
  ): Promise<TransactionResult<Answer>> {
    return transactPart(async (transaction, known) => {
      const answer = await work(transaction);
      const count = countOf(answer);
      if (count > 0)
        rememberStep(transaction, known, step, { value: countIn(known, step) + count });
      return { answer, isWritten: count > 0 };
    });
  }

  function nextStep(): number {
    steps += 1;
    return steps;
  }

  function partOf(transactPart: CallPart["transact"]): CallPart {
    return { transact: transactPart, isFirst, inSteps, inRounds, madeOnce, forgo };
  }

  function inSteps(): CallPart {
    return partOf((work) => transactStep(nextStep(), work, "step"));
  }

  function inRounds<Answer>(countOf: (answer: Answer) => number): Rounds {
    const step = nextStep();
    return {
      ...partOf((work) => transactRound(step, work, countOf as (answer: unknown) => number)),
      async total(own) {
        const known = refuseAnswered(judge(await findRecord({ store, workspaceId }, want)));
        return known === null ? own : countIn(known, step);
      },
    };
  }

  async function madeOnce<Answer>(make: () => Answer): Promise<Answer> {
    return (await transactStep(nextStep(), async () => make(), "made")).answer;
  }

  function forgo(): void {
    isRememberedNow = true;
  }

  const whole = partOf((work) => transactStep(nextStep(), work, "whole"));

  const looked = look();
  // The callers that await it get the error.
  looked.catch(() => undefined);

  return {
    ...whole,

    /** The fields that `make` derives from the input, remembered with everything else. @throws AnsweredBefore */
    async made(make: NonNullable<RepeatScope["complete"]>): Promise<MadeFields> {
      await looked.catch(unlessAnswered);
      made = await make(made);
      await looked;
      return made;
    },

    /** Remembers the result of the operation, unless its only commit did. @returns The result. */
    async finish<Answer>(answer: Answer): Promise<Answer> {
      if (isRememberedNow) return answer;
      await looked;
      const finishing = () =>
        transact(workspaceId, async (transaction) => {
          const known = await readUnanswered(transaction);
          // The answer may say what was erased. Nothing would lead to it any more.
          if (known === null && (await hasLostIdentity(transaction))) return;
          remember(transaction, known, { answer: held(answer) });
        });
      await afterWriting(finishing);
      return answer;
    },

    /**
     * What became of a call that failed, whoever ran it; durable from then on. `advanced`: it has advanced since this attempt began, but is
     * not complete: another attempt continues from there.
     */
    async outcome() {
      await looked.catch(unlessAnswered);
      const { answer: known } = await transact(workspaceId, read);
      if (known !== null && known.answer !== null)
        return { kind: "answered", value: fromStoredAnswer(known.answer.value) } as const;
      const hasAdvanced = known !== null && stateOf(known) !== begunFrom;
      return { kind: hasAdvanced ? "advanced" : "unanswered" } as const;
    },
  };
}

/** @throws AnsweredBefore if the call is complete. */
function refuseAnswered(known: RememberedAnswer | null): RememberedAnswer | null {
  if (known !== null && known.answer !== null) throw new AnsweredBefore();
  return known;
}

function unlessAnswered(error: unknown): void {
  if (!(error instanceof AnsweredBefore)) throw error;
}

/** Identifies one version of a remembered answer. */
function stateOf(known: RememberedAnswer | null): string | null {
  return known && `${known.id} ${known.version}`;
}

function held(answer: unknown): Held {
  const value = toStoredAnswer(answer);
  return value === undefined ? {} : { value };
}

function countIn(known: RememberedAnswer | null, step: number): number {
  const count = (known?.steps[step] as Held | undefined)?.value ?? 0;
  if (typeof count === "number") return count;
  throw corruptRecord("remembered answer");
}

/** Marks an error in a stored answer, and a caller's object that looks like one. */
const ERROR = "$error";
const PLAIN = "$plain";

/** Turns a result into its remembered form: without its secret, which is shown only once. */
export function toStoredAnswer(answer: unknown): JsonValue | undefined {
  const { key, ...shown } = Object(answer) as Readonly<Record<string, unknown>>;
  return toStored(typeof key === "string" ? { ...shown, secretShownBefore: true } : answer);
}

function toStored(value: unknown): JsonValue | undefined {
  if (value instanceof LatchkeyError) {
    const { code, message, issues, reason, details } = value;
    return { [ERROR]: toStored({ code, message, issues, reason, details }) as JsonValue };
  }
  if (Array.isArray(value)) return value.map((item) => toStored(item) ?? null);
  if (typeof value !== "object" || value === null) return value as JsonValue;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const stored = toStored(member);
    return stored === undefined ? [] : [[name, stored] as const];
  });
  const stored = Object.fromEntries(members);
  return ERROR in stored || PLAIN in stored ? { [PLAIN]: stored } : stored;
}

export function fromStoredAnswer(stored: JsonValue | undefined): unknown {
  if (Array.isArray(stored)) return stored.map((item: JsonValue) => fromStoredAnswer(item));
  if (typeof stored !== "object" || stored === null) return stored;
  const { [ERROR]: error, [PLAIN]: plain } = stored as Readonly<Record<string, JsonValue>>;
  if (error !== undefined) {
    const { code, message, ...options } = error as unknown as LatchkeyError;
    return new LatchkeyError(code, message, options as LatchkeyErrorOptions);
  }
  const members = Object.entries((plain ?? stored) as object);
  return Object.fromEntries(members.map(([name, member]) => [name, fromStoredAnswer(member)]));
}
