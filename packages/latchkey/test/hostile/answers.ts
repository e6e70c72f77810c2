import {
  isWhole,
  type KeyStore,
  LatchkeyError,
  type LoadedRecord,
  type StoredRecordState,
  type StoreMethod,
  SUM_CODES,
  type Usage,
} from "@latchkey/core";
import { expect } from "vitest";

type Answer<Method extends StoreMethod> = Awaited<ReturnType<NonNullable<KeyStore[Method]>>>;

/** Whether an answer of a store has the types of the port. */
type Check<Method extends StoreMethod> = (answer: Answer<Method>) => boolean;

const isWholeOrNull = (value: unknown) => value === null || isWhole(value);
const isUsage = (usage: Usage) =>
  isWholeOrNull(usage.remaining) && isWhole(usage.refilledAt) && isWholeOrNull(usage.lastRefillAt);
const isState = ({ record, usage, usedAt }: StoredRecordState) =>
  typeof record.id === "string" &&
  isWhole(record.version) &&
  (record.link === null || typeof record.link === "string") &&
  (usage === null || isUsage(usage)) &&
  isWholeOrNull(usedAt);
const isLoaded = (loaded: LoadedRecord) =>
  isState(loaded) && (loaded.linked === null || isState(loaded.linked));

const CHECKS: { readonly [Method in StoreMethod]?: Check<Method> } = {
  read: ({ revision, found }) =>
    isWhole(revision) && found.every((loaded) => loaded === null || isLoaded(loaded)),
  page: ({ revision, size, found, hasMore }) =>
    isWhole(revision) && isWhole(size) && found.every(isLoaded) && typeof hasMore === "boolean",
  commit: (result) => {
    if (result.kind === "committed")
      return result.usages.length === 1 && result.usages.every(isUsage);
    if (
      result.kind === "refused" &&
      result.reason.kind !== "unlimited" &&
      !isWhole(result.reason.remaining)
    )
      return false;
    return ["stale", "taken", "refused"].includes(result.kind) && isWhole(result.index);
  },
  charge: (result) => {
    if (result.kind === "conflict") return true;
    if (result.kind === "stale") return result.moved === "revision" || isWhole(result.moved);
    if (!("limits" in result)) return isWhole(result.record);
    return (
      ["charged", "rate-limited", "usage-exceeded"].includes(result.kind) &&
      isWholeOrNull(result.remaining) &&
      result.limits.every(
        ({ name, limit, remaining, resetAt, exceeded }) =>
          typeof name === "string" &&
          isWhole(limit) &&
          isWhole(remaining) &&
          Number.isFinite(resetAt) &&
          typeof exceeded === "boolean",
      )
    );
  },
  readStatistics: (counts) =>
    counts.every(
      ({ hourAt, code, count }) => isWhole(hourAt) && isWhole(count) && SUM_CODES.includes(code),
    ),
  addStatistics: (nothing) => nothing === undefined,
  deleteStatistics: ({ deleted, hasMore }) => isWhole(deleted) && typeof hasMore === "boolean",
  forget: (next) => next === null || typeof next === "string",
  scan: ({ names, next }) =>
    names.every((name) => typeof name === "string") && (next === null || typeof next === "string"),
  readClock: isWhole,
};

const CODES = [
  "STORE_CORRUPT",
  "STORE_UNAVAILABLE",
  "PRECONDITION_FAILED",
  "INTERNAL_SERVER_ERROR",
];

/** Calls a store, and asserts that the answer has the types of the port, or is an error of the port. */
export async function expectAnswerOrRefusal(
  method: StoreMethod,
  ask: () => unknown,
): Promise<void> {
  let answer: unknown;
  try {
    answer = await ask();
  } catch (error) {
    expect(error).toBeInstanceOf(LatchkeyError);
    expect(CODES).toContain((error as LatchkeyError).code);
    return;
  }
  const check = CHECKS[method] as (answer: unknown) => boolean;
  expect(check(answer), `${method} answered ${JSON.stringify(answer)}`).toBe(true);
}
