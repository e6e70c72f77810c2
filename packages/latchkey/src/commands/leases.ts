import {
  type EpochMs,
  endOfLease,
  type Hold,
  type KeyStore,
  type Latchkey,
  leaseTimesOf,
  limitNameOf,
  STATE_ADDRESS,
} from "@latchkey/core";
import type { Command } from "commander";
import { example } from "../command-line/help.js";
import type { Host } from "../command-line/host.js";
import { costsText } from "../command-line/key-cells.js";
import { addCommonOptions, type CommonOptions } from "../command-line/operations.js";
import { type Column, instant, minute, printRows } from "../command-line/output.js";
import { lookedLines } from "../command-line/progress.js";
import { keyPages, recordPages } from "../command-line/record-pages.js";
import { withLatchkey } from "../command-line/store-options.js";
import { heldUses, leasesBeside, seemsDead } from "../doctor/leases.js";

/** A lease of a process, as printed. */
interface ShownLease {
  readonly leaseId: string;
  readonly keyId: string;
  readonly identityId?: string;
  readonly createdAt: EpochMs;
  /** When the process stops using it at the latest, judged by the longest lease of any process. */
  readonly endsAt: EpochMs;
  readonly state: "in use" | "seems dead" | "counted as used";
  readonly uses: number;
  readonly ratelimits: readonly { readonly name: string; readonly cost: number }[];
}

const COLUMNS: readonly Column<ShownLease>[] = [
  { title: "ID", of: ({ leaseId }) => leaseId },
  { title: "KEY", of: ({ keyId }) => keyId },
  {
    title: "SINCE",
    of: (each) => instant(each.createdAt),
    inTable: (each) => minute(each.createdAt),
  },
  { title: "UNTIL", of: ({ endsAt }) => instant(endsAt), inTable: null },
  { title: "STATE", of: ({ state }) => state },
  { title: "USES", of: ({ uses }) => uses },
  { title: "LIMITS", of: ({ ratelimits }) => costsText(ratelimits) },
];

/** Adds `latchkey leases`: what processes have leased, and which of it dead processes still hold. */
export function addLeases(program: Command, host: Host): void {
  const leases = program
    .command("leases")
    .description(
      "list the uses and units of limits that processes have taken ahead; those of a dead process are not returned",
    )
    .option("--end-dead", "count what dead processes hold as used")
    .addHelpText("after", example("latchkey leases", "latchkey leases --end-dead"));
  addCommonOptions(leases).action(async () => {
    const options = leases.opts<CommonOptions & { readonly endDead?: true }>();
    // A reader that stops early, such as head, must not prevent later leases from being ended.
    if (options.endDead) host.keepGoing();
    await withLatchkey(options, host, async (latchkey, store) => {
      const { workspaceId } = latchkey;
      const { found } = await store.read(workspaceId, [STATE_ADDRESS]);
      const longest = leaseTimesOf(found[0] ?? null)?.wait ?? 0;
      const looked = lookedLines(host);
      const seen = new Set<string>();
      for await (const records of counted(latchkey, store)) {
        const now = latchkey.now();
        const shown: ShownLease[] = [];
        for (const record of records)
          for (const lease of await leasesBeside(store, workspaceId, record)) {
            // A lease that also holds units of an identity is stored with the key and with the identity.
            if (seen.has(lease.id)) continue;
            seen.add(lease.id);
            const isDead = seemsDead(lease, now);
            const ends = isDead && options.endDead;
            if (ends)
              await store.settle(workspaceId, endOfLease(lease.id), { now, revision: null });
            const state = ends ? "counted as used" : isDead ? "seems dead" : "in use";
            shown.push(shownLease(lease, longest, state));
          }
        if (shown.length > 0) printRows(host, options, shown, COLUMNS);
        looked(records.length);
      }
    });
  });
}

/** All keys, then all identities, page by page. */
async function* counted(latchkey: Latchkey, store: KeyStore) {
  yield* keyPages(latchkey, store);
  yield* recordPages(latchkey, store, { kind: "identity", list: "identity" });
}

function shownLease(lease: Hold, longest: number, state: ShownLease["state"]): ShownLease {
  const { id: leaseId, keyId, identityId, createdAt, limits } = lease;
  return {
    leaseId,
    keyId,
    ...(identityId !== null && { identityId }),
    createdAt,
    endsAt: createdAt + longest,
    state,
    uses: heldUses(lease),
    ratelimits: limits.map(({ window, units }) => ({ name: limitNameOf(window), cost: units })),
  };
}
