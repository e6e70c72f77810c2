import { z } from "zod";
import { LatchkeyError, unmet } from "../../errors.js";
import type { RandomBytes } from "../../lib/id.js";
import { NO_ITEMS } from "../../lib/no-items.js";
import { parseInput } from "../../lib/parse-input.js";
import type { ApiRecord } from "../../records/api.js";
import {
  fromWireKeyLimit,
  type KeyRateLimit,
  type KeyRecord,
  keyType,
  labelsOf,
} from "../../records/key.js";
import { aboveCeiling } from "../../rules/keys/ceilings.js";
import { DEFAULT_LIMIT } from "../../rules/rate-limit.js";
import { countedFrom } from "../../rules/refill.js";
import { BYTE_LENGTH, formatSecret } from "../../secrets/format.js";
import { secretStart } from "../../secrets/shown-start.js";
import { type EpochMs, LAST_INSTANT, type SpanMs } from "../../time.js";
import {
  aboveCeilingError,
  type KeyDefaults,
  type KeyRules,
  keyRulesOf,
} from "../apis/key-rules.js";
import { withCheckedMeta } from "../checked-meta.js";
import {
  notFound,
  type OperationContext,
  randomRepeated,
  requireVault,
  transact,
  type Work,
} from "../context.js";
import { evenWithIssues, flag, optional, prefix, wholeNumber } from "../input.js";
import type { Run } from "../operation.js";
import { References } from "../references.js";
import { expiryIssues } from "../time-input.js";
import { wholeKeyFields } from "./audit-fields.js";
import type { KeyOperations } from "./operations.js";
import { OwnerPlaces } from "./owner-places.js";
import {
  addSettingsIssues,
  type KeySettings,
  keySettingsFields,
  NONE_FIELDS,
  type NoneField,
} from "./settings.js";

/** Settings in which null means none, whatever the API's defaults are. */
export type SettingsOrNone = Omit<KeySettings, NoneField> & {
  readonly [Field in NoneField]?: KeySettings[Field] | null;
};

/** The settings of a new key, with its API's defaults for omitted fields. */
export function withDefaults(
  settings: SettingsOrNone,
  rules: KeyRules | null,
  now: EpochMs,
): KeySettings {
  const usual = rules === null ? {} : defaultsFor(settings, rules, now);
  // Null counts as given, and means none; undefined counts as omitted.
  const given = NONE_FIELDS.filter((field) => settings[field] !== undefined);
  const known = Object.fromEntries(given.map((field) => [field, settings[field] ?? undefined]));
  return { ...settings, ...usual, ...known } as KeySettings;
}

type Defaulted = { -readonly [Field in NoneField]?: KeySettings[Field] };

function defaultsFor(
  settings: SettingsOrNone,
  { defaults, ceilings }: KeyRules,
  now: EpochMs,
): Defaulted {
  if (defaults === null) return {};
  const { remaining, refill, ratelimit, ratelimits, permissions, environment } = defaults;
  const { expiresIn } = defaults;
  const from = Math.max(now, settings.startsAt ?? 0);
  const usual: Defaulted = { ratelimit, ratelimits, permissions, environment };
  if (expiresIn !== undefined) {
    const latest = now + (ceilings?.maxExpiresIn ?? LAST_INSTANT);
    // A key that starts later ends at the ceiling at the latest, unless it would end by its start.
    usual.expires = Math.min(LAST_INSTANT, from + expiresIn, latest > from ? latest : LAST_INSTANT);
  }
  // Shared uses are set on the identity, and a key with unlimited uses has nothing to restore.
  if (settings.usesFrom === "key") {
    usual.remaining = remaining;
    if (settings.remaining !== null) usual.refill = refill;
  }
  if (settings.ratelimits?.some(({ name }) => name === DEFAULT_LIMIT)) usual.ratelimit = undefined;
  return usual;
}

const secretFields = {
  ...optional({ prefix, byteLength: wholeNumber(BYTE_LENGTH.min, BYTE_LENGTH.max) }),
  create: flag.default(false),
};

/** Schema of the input of createKey over the wire. */
export const createKeyInput = z
  .strictObject({ ...keySettingsFields, ...secretFields })
  .superRefine(addSettingsIssues, evenWithIssues);

/** Schema of the library's input: null means none, whatever default the API has. */
export const libraryInput = z
  .strictObject({
    ...keySettingsFields,
    ...(Object.fromEntries(
      NONE_FIELDS.map((field) => [field, keySettingsFields[field].nullable()]),
    ) as { readonly [Field in NoneField]: z.ZodNullable<(typeof keySettingsFields)[Field]> }),
    ...secretFields,
    prefix: prefix.nullish(),
  })
  .superRefine(addSettingsIssues, evenWithIssues);

export const createKey: Run<KeyOperations["createKey"]> = async (context, input) => {
  const now = context.now();
  const parsed = parseInput(libraryInput, input, (raw) => expiryIssues(raw, now));
  const given = await withCheckedMeta(context.keyMeta, parsed);
  if (given.recoverable) requireVault(context);
  const keyId = context.newId("key");
  const random = drawnOnce(context.random);
  return transact(context, async (work) => {
    const references = new References(work, now, given.create);
    const api = await references.api(given.apiId);
    if (api === null) throw notFound("api");
    const rules = keyRulesOf(api);
    const { defaults } = rules;
    if (defaults === null && Object.values(given).includes(null)) refuseNone(input, references);
    const settings = withDefaults(given, rules, now);
    const secret = newSecret(context, random, keyId, given, defaults);
    if (given.permissions === undefined) references.namedByDefault(settings.permissions);
    needForKey(references, settings);
    await references.read();
    if (!references.hasApi(settings.apiId)) throw notFound("api");
    const owner = ownerOf(settings);
    const places = await OwnerPlaces.read(work, references, [{ api, owner }]);
    const refused = refusalByCeilings(api, settings, places, now);
    if (refused !== null) throw references.confirmed(refused);
    places.take(api, owner);
    const parts = { ...work, references, now };
    insertKey(parts, settings, secret.credential, () => randomRepeated("no key was issued"));
    references.refuseMissing();
    return { keyId, key: secret.key };
  });
};

/** Null keeps a key from getting a default. Without any defaults it is a mistake, as over the wire: a field without a value is left out. */
function refuseNone(input: unknown, references: References): void {
  try {
    parseInput(createKeyInput, input);
  } catch (error) {
    throw error instanceof LatchkeyError ? references.confirmed(error) : error;
  }
}

/** Returns the same bytes when a transaction runs again, as long as it wants as many. */
function drawnOnce(random: RandomBytes): RandomBytes {
  let drawn: Uint8Array | undefined;
  return (length) => {
    if (drawn?.length !== length) drawn = random(length);
    return drawn;
  };
}

function newSecret(
  context: OperationContext,
  random: RandomBytes,
  keyId: string,
  given: Pick<z.output<typeof libraryInput>, "prefix" | "byteLength" | "recoverable">,
  defaults: KeyDefaults | null,
): { readonly key: string; readonly credential: KeyCredential } {
  const { workspaceId, hasher } = context;
  const { prefix = defaults?.prefix ?? null } = given;
  const byteLength = given.byteLength ?? defaults?.byteLength ?? BYTE_LENGTH.default;
  const key = formatSecret(prefix ?? "", random(byteLength));
  return {
    key,
    credential: {
      keyId,
      hash: hasher.hash(key),
      start: secretStart(key, byteLength),
      sealedSecret: given.recoverable
        ? requireVault(context).seal(key, { workspaceId, keyId })
        : null,
    },
  };
}

/** Why the ceilings of an API refuse a new key, or null. */
export function refusalByCeilings(
  api: ApiRecord,
  settings: KeySettings,
  places: OwnerPlaces,
  now: EpochMs,
): LatchkeyError | null {
  const { ceilings } = keyRulesOf(api);
  if (ceilings === null) return null;
  const { expires = null, remaining = null, usesFrom, refill = null, permissions = [] } = settings;
  const ratelimit = keyLimitsOf(settings).find(({ name }) => name === DEFAULT_LIMIT) ?? null;
  const given = { expires, remaining, usesFrom, refill, permissions, ratelimit };
  const above = aboveCeiling(ceilings, given, now);
  if (above !== null) return aboveCeilingError(above);
  return places.hasPlace(api, ownerOf(settings)) ? null : places.refusal(api);
}

/** The parts of a new key that are derived from its secret. */
export interface KeyCredential extends Pick<KeyRecord, "hash" | "start" | "sealedSecret"> {
  readonly keyId: string;
  /** Of an imported secret: see `SecretHasher`. */
  readonly importMarks?: readonly string[];
}

export function needForKey(references: References, settings: KeySettings): void {
  references.needApi(settings.apiId);
  references.needOfKey(ownerOf(settings), settings);
}

/**
 * Writes a new key, and what is created with it; then call `refuseMissing()`. `onTaken`: the error if another key has the secret; without
 * it, the transaction runs again and finds that key.
 */
export function insertKey(
  work: Work & { readonly references: References; readonly now: EpochMs },
  settings: KeySettings & { readonly createdAt?: EpochMs | undefined },
  credential: KeyCredential,
  onTaken?: () => Error,
): void {
  const { context, transaction, audit, references, now } = work;
  const { roles = [], permissions = [], tags = NO_ITEMS } = settings;
  const externalId = ownerOf(settings);
  const identityId = externalId === undefined ? null : references.identityId(externalId);
  const createdAt = settings.createdAt ?? now;
  const { expiresWhenUnused = null } = settings;
  refuseUncounted(context, expiresWhenUnused);
  const key: KeyRecord = {
    id: credential.keyId,
    workspaceId: context.workspaceId,
    apiId: settings.apiId,
    hash: credential.hash,
    start: credential.start,
    ...labelsOf((label) => settings[label] ?? null),
    identityId,
    meta: settings.meta ?? null,
    tags,
    uncountedTags: references.uncountedTags(tags),
    ipWhitelist: settings.ipWhitelist ?? NO_ITEMS,
    createdAt,
    chainCreatedAt: null,
    updatedAt: null,
    expires: settings.expires ?? null,
    startsAt: settings.startsAt ?? null,
    expiresWhenUnused,
    // Until now, another system counted the uses.
    idleFrom: expiresWhenUnused === null || createdAt === now ? null : now,
    enabled: settings.enabled,
    refill: settings.refill === undefined ? null : countedFrom(settings.refill, createdAt),
    ratelimits: keyLimitsOf(settings),
    usesFrom: settings.usesFrom,
    rotatedFrom: null,
    rotatedTo: null,
    sharedCountersId: null,
    sealedSecret: credential.sealedSecret,
    importMarks: credential.importMarks ?? NO_ITEMS,
    roles: references.grantIds("role", roles),
    permissions: references.grantIds("permission", permissions),
    version: 1,
  };
  const remaining = settings.remaining ?? null;
  const usage = { remaining, refilledAt: now, lastRefillAt: null };
  transaction.insert(keyType, key, { counters: { usage }, onTaken });
  const recoverable = key.sealedSecret !== null;
  const links = { recoverable, externalId, remaining, roles, permissions };
  const after = wholeKeyFields(key, links);
  audit({ type: "key.created", at: now, resourceId: key.id, identityId, after });
}

/** The limits that a key is given. `ratelimit` is the one named `default`, even if `ratelimits` has one of that name too. */
export function keyLimitsOf(
  settings: Pick<KeySettings, "ratelimit" | "ratelimits">,
): readonly KeyRateLimit[] {
  const { ratelimit, ratelimits = [] } = settings;
  if (ratelimit === undefined) return ratelimits.map(fromWireKeyLimit);
  const others = ratelimits.filter(({ name }) => name !== DEFAULT_LIMIT);
  return [ratelimit, ...others].map(fromWireKeyLimit);
}

/** @throws LatchkeyError `PRECONDITION_FAILED` for `expiresWhenUnused` if uses are not counted. */
export function refuseUncounted(
  { recorder }: Pick<OperationContext, "recorder">,
  expiresWhenUnused: SpanMs | null | undefined,
): void {
  if (recorder !== null || typeof expiresWhenUnused !== "number") return;
  throw unmet(
    "usage-off",
    '"expiresWhenUnused" needs usage to be counted: this latchkey was created with usage: false',
    { field: "expiresWhenUnused" },
  );
}

/** `externalId`, or its deprecated name. */
export function ownerOf(settings: Pick<KeySettings, "externalId" | "ownerId">) {
  return settings.externalId ?? settings.ownerId;
}
