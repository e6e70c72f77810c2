import fc from "fast-check";
import type { JsonValue } from "../lib/json.js";
import { type ApiRecord, apiType } from "../records/api.js";
import {
  AUDIT_TYPES,
  type AuditEntry,
  auditEntryType,
  type FieldChange,
} from "../records/audit-entry.js";
import {
  type Delivery,
  deliveryType,
  SENDER_ID,
  type Sender,
  senderType,
} from "../records/delivery.js";
import {
  type PermissionRecord,
  permissionType,
  type RoleRecord,
  roleType,
} from "../records/grants.js";
import { type IdentityRecord, identityType } from "../records/identity.js";
import {
  chainCreatedAt,
  type KeyRecord,
  keyType,
  labelsOf,
  type TagRecord,
  tagType,
} from "../records/key.js";
import {
  DEADLINE_STAGES,
  type Deadline,
  deadlineOf,
  deadlineType,
  type Noticed,
  noticedId,
  noticedType,
} from "../records/notices.js";
import { type PortalSessionRecord, portalSessionType } from "../records/portal-session.js";
import type { RecordType } from "../records/record-type.js";
import { type RememberedAnswer, rememberedAnswerType } from "../records/remembered-answer.js";
import {
  type RootKeyPointer,
  type RootKeyRecord,
  rootKeyPointerType,
  rootKeyType,
} from "../records/root-key.js";
import { type WorkspaceRecord, workspaceType } from "../records/workspace.js";
import { countedFrom, LAST_REFILL_DAY, type RefillSetting } from "../rules/refill.js";
import { LAST_INSTANT } from "../time.js";

const WORKSPACE_ID = "ws_default";

const text = fc.string({ maxLength: 12, unit: "grapheme" });
const textOrNull = fc.option(text);
const texts = fc.array(text, { maxLength: 4 });
const whole = fc.maxSafeNat();
const wholeOrNull = fc.option(whole);
const positive = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const small = fc.integer({ min: 1, max: 2 ** 26 });
const workspaceId = fc.constant(WORKSPACE_ID);
const idOf = (prefix: string) =>
  fc.stringMatching(/^[a-z0-9]{1,8}$/).map((id) => `${prefix}_${id}`);
const head = (prefix: string) => ({ id: idOf(prefix), workspaceId });
const versioned = (prefix: string) => ({ ...head(prefix), version: positive });
const json = fc
  .jsonValue({ maxDepth: 2, noUnicodeString: false })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);
const meta = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), json, {
  maxKeys: 3,
  noNullPrototype: true,
});
const rule: fc.Arbitrary<RefillSetting> = fc.oneof(
  fc.record({ interval: fc.constantFrom("hourly" as const, "daily" as const), amount: positive }),
  ...(["weekly", "monthly"] as const).map((interval) =>
    fc.record({
      interval: fc.constant(interval),
      amount: positive,
      refillDay: fc.integer({ min: 1, max: LAST_REFILL_DAY[interval] }),
    }),
  ),
  fc.record({
    interval: fc.record({ every: fc.integer({ min: 60_000, max: 2 ** 52 }) }),
    amount: positive,
  }),
);
/** With a carry-over, or without. */
const refill: fc.Arbitrary<RefillSetting | null> = fc.option(
  fc.tuple(rule, fc.nat({ max: Number.MAX_SAFE_INTEGER })).map(([given, wanted]) => {
    const carryOver = Math.min(wanted, Number.MAX_SAFE_INTEGER - given.amount);
    return carryOver === 0 ? given : { ...given, carryOver };
  }),
);
/** Figures that whole numbers can count, in the form in which they are read: a limit that is no bucket has `limit` as its `burst`. */
const figures = fc.oneof(
  fc
    .record({
      algorithm: fc.constantFrom("fixed" as const, "sliding" as const),
      limit: positive,
      duration: positive,
      shadow: fc.boolean(),
    })
    .map((each) => ({ ...each, burst: each.limit })),
  fc.record({
    algorithm: fc.constant("token-bucket" as const),
    limit: small,
    duration: small,
    burst: small,
    shadow: fc.boolean(),
  }),
);
const limitOf = <Fields extends object>(fields: fc.Arbitrary<Fields>) =>
  fc.tuple(figures, fields).map(([counted, named]) => ({ ...named, ...counted }));
const limit = { name: text, autoApply: fc.boolean() };

const key: fc.Arbitrary<KeyRecord> = fc
  .record({
    ...versioned("key"),
    apiId: idOf("api"),
    hash: text,
    start: text,
    ...labelsOf(() => textOrNull),
    identityId: textOrNull,
    meta: fc.option(meta),
    tags: texts,
    uncountedTags: texts,
    ipWhitelist: texts,
    createdAt: whole,
    chainCreatedAt: wholeOrNull,
    updatedAt: wholeOrNull,
    expires: wholeOrNull,
    startsAt: wholeOrNull,
    expiresWhenUnused: wholeOrNull,
    idleFrom: wholeOrNull,
    enabled: fc.boolean(),
    refill,
    ratelimits: fc.array(
      limitOf(
        fc.record({
          ...limit,
          type: fc.constantFrom(null, "fast" as const, "consistent" as const),
          async: fc.boolean(),
        }),
      ),
      { maxLength: 3 },
    ),
    usesFrom: fc.constantFrom("key" as const, "identity" as const),
    rotatedFrom: textOrNull,
    rotatedTo: textOrNull,
    sharedCountersId: textOrNull,
    sealedSecret: textOrNull,
    importMarks: texts,
    roles: texts,
    permissions: texts,
  })
  .map((each) => ({
    ...each,
    refill: each.refill && countedFrom(each.refill, chainCreatedAt(each)),
  }));

const identity: fc.Arbitrary<IdentityRecord> = fc
  .record({
    ...versioned("id"),
    externalId: text,
    meta,
    ratelimits: fc.array(limitOf(fc.record(limit)), { maxLength: 3 }),
    refill,
    createdAt: whole,
  })
  .map((each) => ({ ...each, refill: each.refill && countedFrom(each.refill, each.createdAt) }));

const api: fc.Arbitrary<ApiRecord> = fc.record({
  ...versioned("api"),
  name: text,
  deleteProtection: fc.boolean(),
  ipWhitelist: texts,
  defaults: fc.option(meta),
  ceilings: fc.option(meta),
  createdAt: whole,
});

const role: fc.Arbitrary<RoleRecord> = fc.record({
  ...versioned("role"),
  name: text,
  description: textOrNull,
  permissions: texts,
  createdAt: whole,
});

const permission: fc.Arbitrary<PermissionRecord> = fc.record({
  ...head("perm"),
  name: text,
  description: textOrNull,
  createdAt: whole,
});

const rootKey: fc.Arbitrary<RootKeyRecord> = fc.record({
  ...head("root"),
  hash: text,
  start: text,
  name: textOrNull,
  permissions: texts,
  expires: wholeOrNull,
  rotatedTo: fc.option(idOf("root"), { nil: null }),
  enabled: fc.boolean(),
  createdAt: whole,
});

const rootKeyPointer: fc.Arbitrary<RootKeyPointer> = fc.record({
  id: text,
  workspaceId: text,
  rootKeyId: text,
});

const workspace: fc.Arbitrary<WorkspaceRecord> = fc.record({
  id: fc.constant(WORKSPACE_ID),
  name: textOrNull,
  enabled: fc.boolean(),
  version: positive,
});

const value = json.filter((one) => one !== null);
const field = fc.stringMatching(/^[a-zA-Z]{1,8}$/);
const change: fc.Arbitrary<FieldChange> = fc.oneof(
  fc.record({ field, before: value }),
  fc.record({ field, after: value }),
  fc.record({ field, before: value, after: value }),
);

/** As operations make them: an entry about a key names that key, one about an identity that identity. */
const auditEntry: fc.Arbitrary<AuditEntry> = fc
  .record({
    ...head("evt"),
    type: fc.constantFrom(...AUDIT_TYPES),
    at: whole,
    actor: textOrNull,
    resourceId: fc.oneof(idOf("key"), idOf("id"), idOf("api"), idOf("role")),
    keyId: fc.option(idOf("key")),
    identityId: fc.option(idOf("id")),
    unreadable: fc.boolean(),
    erased: fc.boolean(),
    leakMark: textOrNull,
    fields: fc.uniqueArray(change, { maxLength: 3, selector: ({ field }) => field }),
  })
  .map(({ fields, ...rest }) => {
    const hasAfter = ({ after }: FieldChange) => after !== undefined;
    const entry = {
      ...rest,
      fields: [...fields.filter(hasAfter), ...fields.filter((one) => !hasAfter(one))],
    };
    const { resourceId } = entry;
    if (resourceId.startsWith("key_")) return { ...entry, keyId: resourceId };
    if (resourceId.startsWith("id_")) return { ...entry, identityId: resourceId };
    return entry;
  });

const rememberedAnswer: fc.Arbitrary<RememberedAnswer> = fc.record({
  ...versioned("ans"),
  caller: fc.string(),
  input: fc.string(),
  at: whole,
  storedAt: whole,
  answer: fc.option(fc.oneof(fc.constant({}), fc.record({ value: json }))),
  steps: fc.dictionary(fc.stringMatching(/^[1-9]$/), fc.record({ value: json })),
  identityIds: fc.array(idOf("id"), { maxLength: 3 }),
});

const deadline: fc.Arbitrary<Deadline> = fc
  .tuple(
    fc.constantFrom(...DEADLINE_STAGES),
    idOf("key"),
    fc.nat({ max: LAST_INSTANT }),
    workspaceId,
  )
  .map(([stage, keyId, at, workspace]) => deadlineOf(stage, { keyId, at }, workspace));
const delivery: fc.Arbitrary<Delivery> = fc.record({
  ...versioned("dlv"),
  endpointId: fc.stringMatching(/^[0-9a-f]{32}$/),
  eventId: idOf("evt"),
  number: fc.integer({ min: 1 }),
  lane: idOf("key"),
  state: fc.constantFrom("pending", "dead", "asked"),
  tries: whole,
  since: whole,
  at: whole,
  failure: textOrNull,
});

const sender: fc.Arbitrary<Sender> = fc.record({
  id: fc.constant(SENDER_ID),
  workspaceId,
  holder: textOrNull,
  until: whole,
  leaseMs: whole,
  endpoints: fc.array(fc.record({ id: idOf("end"), cursor: fc.string(), origin: textOrNull }), {
    maxLength: 3,
  }),
  version: fc.integer({ min: 1 }),
});

const noticed: fc.Arbitrary<Noticed> = fc.record({
  id: fc.nat({ max: LAST_INSTANT }).map((until) => noticedId(until, "digest")),
  workspaceId,
});

const tag: fc.Arbitrary<TagRecord> = fc.record(head("tag"));

const portalSession: fc.Arbitrary<PortalSessionRecord> = fc.record({
  ...versioned("ps"),
  hash: fc.string(),
  identityId: idOf("id"),
  expires: whole,
  storedAt: whole,
  allow: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), json),
  actor: fc.option(fc.string()),
});

/** A kind of record with any record of it. */
export interface ArbitraryRecord<Value = unknown> {
  readonly name: string;
  readonly type: RecordType<Value>;
  readonly record: fc.Arbitrary<Value>;
}

function arbitrary<Value>(
  type: RecordType<Value>,
  record: fc.Arbitrary<Value>,
): ArbitraryRecord<Value> {
  return { name: type.kind, type, record };
}

/** Every kind of record, in a form that a test can iterate over. */
export const ARBITRARY_RECORDS: readonly ArbitraryRecord[] = [
  arbitrary(keyType, key),
  arbitrary(identityType, identity),
  arbitrary(apiType, api),
  arbitrary(roleType, role),
  arbitrary(permissionType, permission),
  arbitrary(rootKeyType, rootKey),
  arbitrary(rootKeyPointerType, rootKeyPointer),
  arbitrary(workspaceType, workspace),
  arbitrary(auditEntryType, auditEntry),
  arbitrary(rememberedAnswerType, rememberedAnswer),
  arbitrary(deadlineType, deadline),
  arbitrary(deliveryType, delivery),
  arbitrary(senderType, sender),
  arbitrary(noticedType, noticed),
  arbitrary(portalSessionType, portalSession),
  arbitrary(tagType, tag),
] as readonly ArbitraryRecord[];
