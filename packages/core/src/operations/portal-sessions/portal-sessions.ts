import { z } from "zod";
import { corruptRecord, LatchkeyError } from "../../errors.js";
import { lowestIdAt } from "../../lib/id.js";
import { type InputSchema, parseInput } from "../../lib/parse-input.js";
import { withoutNull } from "../../lib/without-null.js";
import { apiType } from "../../records/api.js";
import { identityType } from "../../records/identity.js";
import { fromWireKeyLimit, KEY_LABELS, keyType } from "../../records/key.js";
import { portalSessionType, SESSION_INDEX } from "../../records/portal-session.js";
import { workspaceOf } from "../../records/workspace.js";
import { isExpired } from "../../rules/keys/lifecycle.js";
import { HeldPermissions } from "../../rules/permission.js";
import { canBeSecret, formatSecret } from "../../secrets/format.js";
import type { LoadedRecord, Want } from "../../store/key-store.js";
import { DAY_MS } from "../../time.js";
import { afterLeases } from "../after-leases.js";
import { storedRules } from "../apis/key-rules.js";
import {
  findDurably,
  notFound,
  type OperationContext,
  portalActor,
  randomRepeated,
  transact,
  type Work,
} from "../context.js";
import { decodeOrNull, deleteExisting, deleteStored } from "../damaged.js";
import { forgetOf } from "../delete-in-batches.js";
import { identityIds, identityWant } from "../identities/reference.js";
import {
  exactlyOneOf,
  externalId,
  flag,
  fullList,
  grantNames,
  id,
  keyReference,
  optional,
  pageFields,
  text,
  usesFrom,
  wholeNumber,
} from "../input.js";
import { createKey } from "../keys/create-key.js";
import { deleteLoaded } from "../keys/delete-key.js";
import { readKey } from "../keys/load.js";
import type { CreatedKey } from "../keys/operations.js";
import { listKeys } from "../keys/read-keys.js";
import { rotateLoaded } from "../keys/rotate-key.js";
import { changeKey } from "../keys/update-key.js";
import type { KeyView } from "../keys/view.js";
import { namedKeyRatelimits } from "../limit-input.js";
import { operation, type TableOf } from "../operation.js";
import { findRecord, findRecords, readList, wantsOf } from "../read.js";
import { References } from "../references.js";
import { repeatable } from "../repeats/repeatable.js";
import { STATISTICS_TABLE } from "../statistics.js";
import { instant, spanBetween } from "../time-input.js";
import {
  OWN_KEY_FIELDS,
  type OwnKey,
  type PortalOperations,
  type PortalSession,
} from "./operations.js";

/** Schema of what a session allows, in the input and in the record. */
const portalAllow = z.strictObject({
  apiIds: fullList(id, 20, "ids"),
  create: flag.default(false),
  rotate: flag.default(false),
  revoke: flag.default(false),
  permissions: grantNames.default([]),
  ...optional({ maxKeys: wholeNumber(1, 10_000), ratelimits: namedKeyRatelimits, usesFrom }),
});

const name = text(...KEY_LABELS.name.length);

const INPUTS = {
  list: z.strictObject({ apiId: id.optional(), ...pageFields }),
  create: z.strictObject(
    optional({ apiId: id, name, expires: instant(0), permissions: grantNames }),
  ),
  rename: z.strictObject({ keyId: id, name }),
  rotate: z.strictObject({
    keyId: id,
    graceMs: spanBetween(0, 7 * DAY_MS, "0 ms to 7 days").default(0),
  }),
  usage: z.strictObject({ keyId: id, days: wholeNumber(1, 366).default(30) }),
};

async function openPortalSession(
  context: OperationContext,
  secret: string,
): Promise<PortalSession | null> {
  const found = await findSession(context, secret);
  if (found === null) return null;
  const { session, identity } = found;
  const allow = portalAllow.safeParse(session.allow);
  if (!allow.success) throw corruptRecord(`portalSession ${session.id}`);
  const apis = await readApis(context, allow.data.apiIds);
  const { create, rotate, revoke, permissions, apiIds, maxKeys, ratelimits } = allow.data;
  const allowed = new HeldPermissions(permissions);
  const sessionWants = [
    { kind: "portalSession", id: session.id },
    { kind: "workspace", id: context.workspaceId, expects: "nothing" },
  ] as const;
  const assertOpen = ([current = null, workspace = null]: readonly (LoadedRecord | null)[]) => {
    const isOver = isExpired(session.expires, context.now());
    if (isOver || current === null || current.linked === null)
      throw new LatchkeyError("UNAUTHORIZED", "this portal session has ended");
    assertEnabled(workspace, context.workspaceId);
  };
  const confined: OperationContext = {
    ...context,
    call: null,
    actor: session.actor ?? portalActor(identity.id),
    confinedTo: {
      identityId: identity.id,
      apiIds,
      maxKeys,
      confirm: async (transaction) => {
        assertOpen(await transaction.read(sessionWants));
        // The session does not change when its identity is deleted, and another one may get its name.
        transaction.expect({ kind: "identity", id: identity.id, version: "exists" });
      },
    },
  };
  /** Reads, unless the session has ended: a program may keep an opened session. */
  const read = async (...wants: readonly Want[]) => {
    const found = await findRecords(context, [...sessionWants, ...wants]);
    assertOpen(found);
    return found.slice(sessionWants.length);
  };
  const isOwn = (owner: string | null | undefined, apiId: string) =>
    owner === identity.id && apiIds.includes(apiId);
  /** Resolves when no process contradicts the result any more. */
  const settled = <Answer>(running: Promise<Answer>) =>
    afterLeases(running, () => context.awaitLeases(context.workspaceId));
  const mayHold = (held: readonly string[]) => held.every((one) => allowed.grant(one));
  /** The only API: of those that `allow` shows, or of the session if that was deleted. */
  const [onlyId, secondId] = apis.length === 0 ? apiIds : apis.map((api) => api.id);
  const apiIn = (given: string | undefined): string => {
    const apiId = given ?? (secondId === undefined ? onlyId : undefined);
    if (apiId === undefined || !apiIds.includes(apiId)) throw notFound("api");
    return apiId;
  };
  /** A repeat gets a remembered answer, so this first checks that the session is still open. It never shows a secret again. */
  const repeatableOwn = (
    name: string,
    schema: InputSchema,
    run: (context: OperationContext, input: unknown) => Promise<CreatedKey>,
  ) => {
    const call = repeatable(confined, name, schema, run);
    return async (input: object): Promise<CreatedKey> => {
      if (Object.hasOwn(Object(input), "idempotencyKey")) await read();
      return call(input, { mayDecrypt: () => false }) as Promise<CreatedKey>;
    };
  };
  return {
    sessionId: session.id,
    identityId: identity.id,
    externalId: identity.externalId,
    ...(session.actor !== null && { actor: session.actor }),
    expires: session.expires,
    allow: { create, rotate, revoke, permissions, ...(maxKeys !== undefined && { maxKeys }), apis },

    async listMyKeys(input) {
      const { apiId, ...page } = parseInput(INPUTS.list, input);
      const listed = { ...page, apiId: apiIn(apiId), identityId: identity.id };
      const [{ keys, damaged, cursor }] = await Promise.all([
        listKeys.run(confined, listed),
        read(),
      ]);
      const own = keys
        .filter((key) => isOwn(key.identity?.id, key.apiId))
        .map((key) => toOwnKey(key, rotate && mayHold(key.permissions)));
      return withoutNull({ keys: own, damaged, cursor });
    },

    createMyKey: repeatableOwn("createMyKey", INPUTS.create, async (own, input) => {
      const given = parseInput(INPUTS.create, input);
      if (!create) throw notAllowed("create");
      const wanted = given.permissions ?? permissions;
      if (!wanted.every((one) => permissions.includes(one)))
        throw forbidden('"permissions" contains one that is not allowed here');
      const settings = { ...given, permissions: wanted, externalId: identity.externalId };
      const { usesFrom } = allow.data;
      return createKey(own, { ...settings, ratelimits, usesFrom, apiId: apiIn(given.apiId) });
    }),

    async renameMyKey(input) {
      const { keyId, name } = parseInput(INPUTS.rename, input);
      if (!create) throw notAllowed("rename");
      const update = () => ({ name });
      return settled(changeKey(confined, keyId, update, () => ({})));
    },

    rotateMyKey: repeatableOwn("rotateMyKey", INPUTS.rotate, async (own, input) => {
      const { keyId, graceMs } = parseInput(INPUTS.rotate, input);
      if (!rotate) throw notAllowed("rotate");
      const rotating = transact(own, async (work) => {
        const loaded = await readKey(own, work.transaction, keyId);
        if (!mayHold(loaded.permissions))
          throw forbidden("this key has more permissions than this session may grant");
        const limits = ratelimits && { ratelimits: ratelimits.map(fromWireKeyLimit) };
        return rotateLoaded(work, loaded, graceMs, limits);
      });
      return settled(rotating);
    }),

    async revokeMyKey(input) {
      const { keyId } = parseInput(keyReference, input);
      if (!revoke) throw notAllowed("revoke");
      const revoking = transact(confined, async (work) => {
        deleteLoaded(work, await readKey(confined, work.transaction, keyId));
        return {};
      });
      return settled(revoking);
    },

    async usageOfMyKey(input) {
      const { keyId, days } = parseInput(INPUTS.usage, input);
      const start = Math.max(0, context.now() - (days - 1) * DAY_MS);
      const usage = await STATISTICS_TABLE.getVerifications.run(confined, { keyId, start });
      // Checked last: the key may have got another owner meanwhile.
      const [loaded] = await read({ kind: "key", id: keyId });
      const key = decodeOrNull(keyType, loaded?.record, context);
      if (!key || !isOwn(key.identityId, key.apiId)) throw notFound("key");
      return usage;
    },
  };
}

/** A key without the fields that are only for the host. */
function toOwnKey(view: KeyView, canRotate: boolean): OwnKey {
  const shown = OWN_KEY_FIELDS.filter((field) => view[field] !== undefined);
  const fields = Object.fromEntries(shown.map((field) => [field, view[field]]));
  return { ...(fields as unknown as Omit<OwnKey, "canRotate">), canRotate };
}

function notAllowed(what: string): LatchkeyError {
  return forbidden(`this session is not allowed to ${what} keys`);
}

function forbidden(message: string, reason?: "workspace-disabled"): LatchkeyError {
  return new LatchkeyError("FORBIDDEN", message, reason && { reason });
}

async function findSession(context: OperationContext, secret: string) {
  const { hasher, workspaceId, now } = context;
  if (typeof secret !== "string" || !canBeSecret(secret)) return null;
  const wants = hasher
    .candidates(secret)
    .map((value) => ({ kind: "portalSession", index: SESSION_INDEX, value }) as const);
  const [workspace = null, ...sessions] = await findRecords(context, [
    { kind: "workspace", id: workspaceId },
    ...wants,
  ]);
  const loaded = sessions.find((one) => one !== null) ?? null;
  if (loaded === null || loaded.linked === null) return null;
  const session = portalSessionType.decode(loaded.record, workspaceId);
  if (isExpired(session.expires, now())) return null;
  assertEnabled(workspace, workspaceId);
  return { session, identity: identityType.decode(loaded.linked.record, workspaceId) };
}

function assertEnabled(workspace: LoadedRecord | null, workspaceId: string): void {
  if (!workspaceOf(workspace?.record, workspaceId).enabled)
    throw forbidden("workspace is disabled", "workspace-disabled");
}

/** The ids and names of those of the APIs that still exist. */
async function readApis(context: OperationContext, apiIds: readonly string[]) {
  const found = await findRecords(context, wantsOf("api", apiIds));
  return found.flatMap((loaded) => {
    const api = decodeOrNull(apiType, loaded?.record, context);
    return api ? [{ id: api.id, name: api.name }] : [];
  });
}

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
  actor: text(1, 256).optional(),
});

const revocationInput = z
  .strictObject({ sessionId: id.optional(), ...identityIds })
  .refine(...exactlyOneOf("sessionId", "identityId", "externalId"));

export const PORTAL_TABLE = {
  createPortalSession: operation(
    sessionInput,
    async (context, { externalId, ttl, actor = null, ...input }) => {
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
            actor,
            version: 1,
          },
          { onTaken: () => randomRepeated("no session was created") },
        );
        return { sessionId, secret, expires };
      });
    },
  ),

  revokePortalSession: operation(revocationInput, async (context, { sessionId, ...who }) => {
    if (sessionId === undefined) {
      const find = () => findRecord(context, identityWant(who));
      const identityId = who.identityId ?? (await findDurably(context, find))?.record.id;
      if (identityId === undefined) throw notFound("identity");
      const { deleted } = await forgetOf(context, portalSessionType, identityId);
      return { revokedSessions: deleted };
    }
    return transact(context, async ({ transaction }) => {
      await deleteExisting(transaction, portalSessionType, sessionId);
      return { revokedSessions: 1 };
    });
  }),

  openPortalSession: { run: openPortalSession, input: null },
} satisfies TableOf<PortalOperations>;

/** Deletes a few sessions that ended long ago, by the store's own clock: twice the longest lifetime has passed since they were created. */
async function forgetEnded({ context, transaction }: Work, storeNow: number): Promise<void> {
  const want = { kind: "portalSession", limit: FORGOTTEN_AT_ONCE } as const;
  const { found } = await readList(context, want);
  const longAgo = storeNow - 2 * MAX_TTL_MS;
  const oldest = lowestIdAt("ps", Math.max(0, longAgo));
  for (const { record } of found) {
    const session = decodeOrNull(portalSessionType, record, context);
    const isOld = session === null ? record.id < oldest : session.storedAt < longAgo;
    if (isOld) deleteStored(transaction, portalSessionType, record);
  }
}
