import { z } from "zod";
import { badRequest } from "../../errors.js";
import {
  bucketEndAt,
  bucketStartAt,
  GRANULARITIES,
  isAllowedRange,
  RANGE_ERRORS,
  toBuckets,
} from "../../statistics/buckets.js";
import type { Want } from "../../store/key-store.js";
import type { StatisticsSubject } from "../../store/statistics.js";
import type { EpochMs, SpanMs } from "../../time.js";
import { notFound, type OperationContext } from "../context.js";
import { DELETED_AT_ONCE, deleteInBatches } from "../delete-in-batches.js";
import { identityIds, identityWant } from "../identities/reference.js";
import { evenWithIssues, externalId, id, orRequired, parseInput } from "../input.js";
import type { Run, TableOf } from "../run.js";
import { instant, notLaterThanNow } from "../time-input.js";
import type { StatisticsOperations } from "./operations.js";

/** The end of the year 9999: calendar arithmetic stays exact a long way beyond it. */
const LATEST: EpochMs = 253_402_300_799_999;

/** Without a start: 30 days. */
const USUAL_RANGE_MS: SpanMs = 30 * 86_400_000;

const getVerificationsInput = z
  .strictObject({
    keyId: id.optional(),
    ...identityIds,
    ownerId: externalId.optional(),
    apiId: id.optional(),
    start: instant(0, LATEST).optional(),
    end: instant(0, LATEST).optional(),
    granularity: z
      .enum(GRANULARITIES, { error: orRequired('must be "hour", "day" or "month"') })
      .default("day"),
  })
  .refine((input) => subjectsIn(input) === 1, {
    ...evenWithIssues,
    error: "exactly one of keyId, identityId (or externalId) and apiId must be given",
  });

const pruneVerificationsInput = z.strictObject({ before: instant(0) });

const getVerifications: Run<StatisticsOperations["getVerifications"]> = async (context, input) => {
  const parsed = parseInput(getVerificationsInput, input);
  const { granularity } = parsed;
  const { start, end } = rangeOf(parsed, context.now());
  const subject = await subjectOf(context, parsed);
  await context.recorder?.flush();
  const lastBucketAt = bucketStartAt(end - 1, granularity);
  const hours = await context.store.readStatistics(context.workspaceId, {
    subject,
    startAt: bucketStartAt(start, granularity),
    endAt: bucketEndAt(lastBucketAt, granularity),
  });
  return { verifications: toBuckets(hours, start, end, granularity) };
};

/**
 * The range that is asked for.
 *
 * @throws LatchkeyError `BAD_REQUEST` where it is empty or longer than its granularity allows.
 */
function rangeOf(
  { start, end, granularity }: z.output<typeof getVerificationsInput>,
  now: EpochMs,
): { readonly start: EpochMs; readonly end: EpochMs } {
  const endAt = end ?? now + 1;
  const startAt = start ?? Math.max(0, endAt - USUAL_RANGE_MS);
  if (!isAllowedRange(startAt, endAt, granularity))
    throw badRequest([{ path: "end", message: RANGE_ERRORS[granularity] }]);
  return { start: startAt, end: endAt };
}

function subjectsIn(input: Readonly<Record<string, unknown>>): number {
  const { keyId, identityId, externalId, ownerId, apiId } = input;
  return [keyId, identityId ?? externalId ?? ownerId, apiId].filter((one) => one !== undefined)
    .length;
}

async function subjectOf(
  { store, workspaceId }: OperationContext,
  input: z.output<typeof getVerificationsInput>,
): Promise<StatisticsSubject> {
  const { kind, want, name } = wantOf(input);
  const { found } = await store.read(workspaceId, [want]);
  const [loaded = null] = found;
  if (loaded === null) throw notFound(name);
  return { kind, id: loaded.record.id };
}

function wantOf({ keyId, apiId, ...ids }: z.output<typeof getVerificationsInput>): {
  readonly kind: StatisticsSubject["kind"];
  readonly want: Want;
  readonly name: "key" | "API" | "identity";
} {
  if (keyId !== undefined) return { kind: "key", want: { kind: "key", id: keyId }, name: "key" };
  if (apiId !== undefined) return { kind: "api", want: { kind: "api", id: apiId }, name: "API" };
  const { identityId, ownerId, externalId = ownerId } = ids;
  return { kind: "identity", want: identityWant({ identityId, externalId }), name: "identity" };
}

const pruneVerifications: Run<StatisticsOperations["pruneVerifications"]> = async (
  context,
  input,
) => {
  const { store, workspaceId } = context;
  const now = context.now();
  const { before } = parseInput(pruneVerificationsInput, input, (raw) =>
    notLaterThanNow(raw, "before", now),
  );
  const beforeAt = bucketStartAt(before, "day");
  return deleteInBatches(context.timer, DELETED_AT_ONCE, (limit) =>
    store.deleteStatistics(workspaceId, beforeAt, limit),
  );
};

/** How {@link StatisticsOperations} run. */
export const STATISTICS_TABLE = {
  getVerifications: { run: getVerifications, input: getVerificationsInput },
  pruneVerifications: { run: pruneVerifications, input: pruneVerificationsInput },
} satisfies TableOf<StatisticsOperations>;
