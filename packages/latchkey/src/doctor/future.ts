import { type IdentityView, type KeyView, LatchkeyError, type LoadedRecord } from "@latchkey/core";
import { instant } from "../command-line/output.js";
import { type ConfiguredLimit, readLimits, type WindowOwner } from "../command-line/windows.js";
import type { DoctorContext } from "./doctor-context.js";
import { type Finding, mendable, wrong } from "./finding.js";

/** Smaller differences are normal between clocks, in ms. */
const TOLERANCE_MS = 60_000;

/** Keys or identities that are read at the same time: a million, one after the other, would take a round trip each. */
const RECORDS_AT_ONCE = 20;

/** The configuration of something with counters. */
interface Counted {
  readonly owner: WindowOwner;
  readonly ratelimits: readonly ConfiguredLimit[];
  readonly refill: KeyView["refill"] | IdentityView["refill"];
}

/**
 * Looks for refills and windows that a wrong clock put into the future. They do not move until then.
 *
 * @see packages/core/decisions/0021-clocks-can-be-mended.md
 */
export async function* checkInstants(
  context: DoctorContext,
  records: readonly LoadedRecord[],
): AsyncIterable<Finding> {
  for (let from = 0; from < records.length; from += RECORDS_AT_ONCE) {
    const part = await Promise.all(
      records.slice(from, from + RECORDS_AT_ONCE).map(async ({ record, usage }) => {
        const kind = record.kind as WindowOwner["kind"];
        return { record, usage, counted: await configurationOf(context, kind, record.id) };
      }),
    );
    for (const { record, usage, counted } of part) {
      if (counted === "gone") continue;
      if (counted === "damaged") {
        yield wrong("records", `the ${record.kind} ${record.id} cannot be read`);
        continue;
      }
      const refilledAt = usage?.remaining == null ? 0 : usage.refilledAt;
      yield* checkRefill(context, counted, refilledAt);
      yield* checkWindows(context, counted);
    }
  }
}

async function* checkRefill(
  { latchkey, fix }: DoctorContext,
  { owner: { kind, id }, refill }: Counted,
  refilledAt: number,
): AsyncIterable<Finding> {
  if (refill === undefined || refilledAt <= latchkey.now() + TOLERANCE_MS) return;
  const until = instant(refilledAt);
  // Setting the refill again restarts it from now, and leaves the uses unchanged.
  yield await mendable("future", `${kind} ${id}: no refill until ${until}`, fix, () =>
    kind === "key"
      ? latchkey.updateKey({ keyId: id, refill })
      : latchkey.updateIdentity({ identityId: id, refill }),
  );
}

async function* checkWindows(
  { latchkey, store, fix }: DoctorContext,
  { owner, ratelimits }: Counted,
): AsyncIterable<Finding> {
  const now = latchkey.now();
  const { kind, id } = owner;
  const readings = await readLimits(store, latchkey.workspaceId, owner, ratelimits, now);
  for (const { name, state, resetAt } of readings) {
    if (state.at <= now + TOLERANCE_MS) continue;
    const until = instant(resetAt);
    yield await mendable(
      "future",
      `${kind} ${id}: the limit ${name} stands still until ${until}`,
      fix,
      () => latchkey.resetLimit({ ...(kind === "key" ? { keyId: id } : { identityId: id }), name }),
    );
  }
}

async function configurationOf(
  { latchkey }: DoctorContext,
  kind: WindowOwner["kind"],
  id: string,
): Promise<Counted | "gone" | "damaged"> {
  try {
    if (kind === "identity") {
      const { ratelimits, refill } = await latchkey.getIdentity({ identityId: id });
      return { owner: { kind, id }, ratelimits, refill };
    }
    const { ratelimits = [], refill, usesFrom } = await latchkey.getKey({ keyId: id });
    // A key that takes uses from its identity has none of its own to refill.
    return { owner: { kind, id }, ratelimits, refill: usesFrom === undefined ? refill : undefined };
  } catch (error) {
    if (error instanceof LatchkeyError && error.code === "NOT_FOUND") return "gone";
    if (error instanceof LatchkeyError && error.code === "STORE_CORRUPT") return "damaged";
    throw error;
  }
}
