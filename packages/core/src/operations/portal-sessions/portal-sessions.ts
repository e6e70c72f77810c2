import { z } from "zod";
import { lowestIdAt } from "../../lib/id.js";
import { portalSessionType } from "../../records/portal-session.js";
import { formatSecret } from "../../secrets/format.js";
import { storedRules } from "../apis/key-rules.js";
import { notFound, randomRepeated, transact, type Work } from "../context.js";
import { decodeOrNull, deleteRecord, deleteStored } from "../damaged.js";
import { forgetOf } from "../delete-in-batches.js";
import { identityIds, identityWant } from "../identities/reference.js";
import { countGiven, evenWithIssues, externalId, id } from "../input.js";
import { operation, type TableOf } from "../operation.js";
import { requireId } from "../read.js";
import { References } from "../references.js";
import { spanBetween } from "../time-input.js";
import { openPortalSession, portalAllow } from "./open-session.js";
import type { PortalOperations } from "./operations.js";

const MAX_TTL_MS = 3_600_000;

const USUAL_TTL_MS = 900_000;

/** Most old sessions deleted when one is created: more than one, so that they do not pile up. */
const FORGOTTEN_AT_ONCE = 4;

/** Distinguishes the secret of a session from keys, and lets scanners recognise it. */
const SECRET_PREFIX = "lk_portal";

const sessionInput = z.strictObject({
  externalId,
  ttl: spanBetween(1, MAX_TTL_MS, "1 ms to 1 hour").default(USUAL_TTL_MS),
  allow: portalAllow,
});

const revocationInput = z
  .strictObject({ sessionId: id.optional(), ...identityIds })
  .refine((input) => countGiven(...Object.values(input)) === 1, {
    ...evenWithIssues,
    path: ["sessionId"],
    error: "exactly one of sessionId, identityId and externalId must be given",
  });

export const PORTAL_TABLE = {
  createPortalSession: operation(sessionInput, async (context, { externalId, ttl, ...input }) => {
    const { workspaceId } = context;
    // Without repeats, because keys are counted per API.
    const allow = { ...input.allow, apiIds: [...new Set(input.allow.apiIds)] };
    const sessionId = context.newId("ps");
    const secret = formatSecret(SECRET_PREFIX, context.random(32));
    const storedAt = await context.readStoreClock();
    return transact(context, async (work) => {
      const now = context.now();
      const references = new References(work, now);
      for (const apiId of allow.apiIds) references.needApi(apiId);
      references.needGrants("permission", allow.permissions);
      references.needIdentity(externalId);
      await references.read();
      if (!allow.apiIds.every((apiId) => references.hasApi(apiId))) throw notFound("api");
      references.grantIds("permission", allow.permissions);
      references.refuseMissing();
      const expires = now + ttl;
      await forgetEnded(work, storedAt);
      work.transaction.insert(
        portalSessionType,
        {
          id: sessionId,
          workspaceId,
          hash: context.hasher.hash(secret),
          identityId: references.identityId(externalId),
          expires,
          storedAt,
          allow: storedRules(allow) ?? {},
          version: 1,
        },
        { onTaken: () => randomRepeated("no session was created") },
      );
      return { sessionId, secret, expires };
    });
  }),

  revokePortalSession: operation(revocationInput, async (context, { sessionId, ...who }) => {
    if (sessionId === undefined) {
      const identityId = who.identityId ?? (await requireId(context, identityWant(who)));
      const { deleted } = await forgetOf(context, portalSessionType, identityId);
      return { revokedSessions: deleted };
    }
    return transact(context, async ({ transaction }) => {
      const session = await deleteRecord(transaction, portalSessionType, sessionId);
      if (session === undefined) throw notFound("portalSession");
      return { revokedSessions: 1 };
    });
  }),

  openPortalSession: { run: openPortalSession, input: null },
} satisfies TableOf<PortalOperations>;

/** Deletes a few sessions that ended long ago, by the store's own clock: twice the longest lifetime has passed since they were created. */
async function forgetEnded({ context, transaction }: Work, storeNow: number): Promise<void> {
  const { store, workspaceId } = context;
  const want = { kind: "portalSession", list: "portalSession", after: null } as const;
  const { found } = await store.page(workspaceId, { ...want, limit: FORGOTTEN_AT_ONCE });
  const longAgo = storeNow - 2 * MAX_TTL_MS;
  const oldest = lowestIdAt("ps", Math.max(0, longAgo));
  for (const { record } of found) {
    const session = decodeOrNull(portalSessionType, record, workspaceId);
    const isOld = session === null ? record.id < oldest : session.storedAt < longAgo;
    if (isOld) deleteStored(transaction, portalSessionType, record);
  }
}
