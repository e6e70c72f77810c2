import { z } from "zod";
import { hasCode } from "../errors.js";
import { auditEntryType, leakList } from "../records/audit-entry.js";
import { keyType } from "../records/key.js";
import { DIRECTORY_ID, rootKeyPointerType, rootKeyType } from "../records/root-key.js";
import { decideLeak, isDeadForGood, LEAK_POLICIES, type LeakPolicy } from "../rules/keys/leak.js";
import { canBeSecret, secretShape } from "../secrets/format.js";
import type { ReadResult, Want } from "../store/key-store.js";
import { confirmReads, notFound, type OperationContext, transact, type Work } from "./context.js";
import { decodeOrNull, deleteRecord, readStored, withoutReadableRecord } from "./damaged.js";
import { anyText, list, oneOfNames, optional, text } from "./input.js";
import { deleteDamaged, deleteLoaded } from "./keys/delete-key.js";
import { getKeyById, readKey } from "./keys/load.js";
import { rotateLoaded, rotationOf } from "./keys/rotate-key.js";
import { switchKey, switchOffDamaged } from "./keys/update-key.js";
import { type KeyView, toKeyView } from "./keys/view.js";
import { operation, type TableOf } from "./operation.js";
import { decodeAll, listPages } from "./read.js";
import { ROOT_PREFIX } from "./root-keys/root-keys.js";

/** What was done with a leaked key. */
export type LeakAction = "disabled" | "reported" | "deleted" | "rotated";

/** A secret that may have leaked. */
export interface Leak {
  /** The secret, or what looks like one: any text. */
  readonly key: string;
  /** Where it was found: a text of up to 2,048 characters. */
  readonly url?: string | undefined;
  /** What it was found in, such as `commit`: a text of up to 256 characters. */
  readonly source?: string | undefined;
}

/** A leaked key or root key: it has exactly one of the ids. */
export interface LeakedKey {
  /** Id of the key. */
  readonly keyId?: string;
  /** Id of the root key, which may be of any workspace. */
  readonly rootKeyId?: string;
  /** What was done. Also `disabled` if it was disabled before, or if the policy could not be applied. */
  readonly action: LeakAction;
  /** Whether this report was handled before: then nothing was done now. */
  readonly isRepeat: boolean;
}

/** What reportLeaks found. */
export interface ReportedLeaks {
  /** In the order of the input; null: not a secret of a key here. */
  readonly leaks: readonly (LeakedKey | null)[];
}

/** Options of reportLeaks that HTTP does not have. */
export interface LeakScope {
  /** Decides about each key, instead of `policy`. Not called for root keys and damaged keys. */
  readonly decide?: (key: KeyView) => LeakPolicy | Promise<LeakPolicy>;
}

export interface LeakOperations {
  /**
   * Revokes keys whose secrets leaked: disables them, or does what `policy` says. This does not count as a verification. Each report leaves
   * an audit entry that says where the secret was found, but never the secret. The same report again changes nothing.
   *
   * Finds keys of this workspace in any state, and root keys of any workspace. `rotate` gives a recoverable key a successor, whose secret
   * its owner can fetch; other keys and root keys are disabled. `delete` needs the audit log, which remembers deleted keys; without it,
   * keys are disabled.
   *
   * @param scope - For hosts that decide about each key.
   * @throws LatchkeyError `STORE_UNAVAILABLE`: some may have been handled; call it again.
   * @example
   * const { leaks } = await latchkey.reportLeaks({ leaks: [{ key, url: "https://example.com/diff" }] });
   */
  reportLeaks(
    input: {
      /** At most 100. */
      readonly leaks: readonly Leak[];
      /** Default: `disable`. */
      readonly policy?: LeakPolicy | undefined;
    },
    scope?: LeakScope,
  ): Promise<ReportedLeaks>;
}

const reportLeaksInput = z.strictObject({
  leaks: list(
    z.strictObject({
      key: anyText,
      ...optional({ url: text(0, 2_048), source: text(0, 256) }),
    }),
    // As many as one read of the store takes.
    100,
    "leaks",
  ),
  policy: oneOfNames(LEAK_POLICIES).default("disable"),
});

export const LEAK_TABLE = {
  reportLeaks: operation(
    reportLeaksInput,
    async (context, { leaks, policy }, { decide }: LeakScope = {}) => {
      const keys = leaks.map(({ key }) => key);
      const holders = await findHolders(context, keys);
      const secrets = keys.filter((_, at) => (holders[at]?.kind ?? "none") !== "none");
      const reports = leaks.map((leak) => reportOf(context, leak, secrets));
      // Most leaks belong to no key here, or to deleted keys: these are looked up all at once. The others go one by one, because two may be
      // of the same key.
      const answers = await Promise.all(
        reports.map((report, at) =>
          holders[at]?.kind === "none" ? findReport(context, report, "anywhere") : null,
        ),
      );
      const gone = new Set([...answers.keys()].filter((at) => answers[at] !== null));
      const handle = async (report: Report, at: number, holder: Holder | null | undefined) => {
        if (holder?.kind === "key") {
          const onGone = () => gone.add(at);
          answers[at] = await reportKey(context, report, holder.id, { policy, decide }, onGone);
        }
        if (holder?.kind === "rootKey")
          answers[at] = await reportRootKey(context, report, holder, policy);
      };
      for (const [at, report] of reports.entries()) await handle(report, at, holders[at]);
      if (gone.size > 0) {
        // Their deletion must be durable. They may be there again: the store failed over, or the secret was imported again.
        await confirmReads(context);
        const lost = [...gone].map((at) => leaks[at] as Leak);
        const lostKeys = lost.map(({ key }) => key);
        const found = await findHolders(context, lostKeys);
        for (const [place, at] of [...gone].entries()) {
          const report = reportOf(context, lost[place] as Leak, [...secrets, ...lostKeys]);
          await handle(report, at, found[place]);
        }
      }
      return { leaks: answers };
    },
  ),
} satisfies TableOf<LeakOperations>;

async function reportKey(
  context: OperationContext,
  report: Report,
  keyId: string,
  { policy, decide }: { readonly policy: LeakPolicy; readonly decide: LeakScope["decide"] },
  onGone: () => void,
): Promise<LeakedKey | null> {
  let decision: Promise<LeakPolicy> | null = null;
  const choose = async () => {
    if (decide === undefined) return policy;
    decision ??= decided(context, keyId, decide);
    return decision;
  };
  try {
    // Also a repeat is committed: what the first report did must be durable, and still true.
    return await withoutReadableRecord(
      () => transact(context, (work) => handleReadable(work, report, keyId, choose)),
      () => transact(context, (work) => handleDamaged(work, report, keyId, choose)),
    );
  } catch (error) {
    // The key or its API was deleted meanwhile, perhaps by the same report.
    if (!hasCode(error, "NOT_FOUND")) throw error;
    onGone();
    return findReport(context, report, "anywhere");
  }
}

/** Asks `decide`; a damaged key cannot be shown to it, and is disabled. */
function decided(
  context: OperationContext,
  keyId: string,
  decide: NonNullable<LeakScope["decide"]>,
): Promise<LeakPolicy> {
  return withoutReadableRecord<LeakPolicy>(
    async () => decide(toKeyView(await getKeyById(context, keyId), context.now())),
    async () => "disable",
  );
}

async function handleReadable(
  work: Work,
  report: Report,
  keyId: string,
  choose: () => Promise<LeakPolicy>,
): Promise<LeakedKey> {
  const { context, transaction } = work;
  const loaded = await readKey(context, transaction, keyId);
  // Searched after the key was read: every report of a key writes the key, so of two at the same time one runs again and finds the other.
  const known = await findReport(context, report, "same-place");
  if (known !== null) return known;
  const policy = await choose();
  const { key } = loaded;
  const { vault, keepsAuditLog } = context;
  const isRecoverable = key.sealedSecret !== null && vault !== null;
  const canRotate = isRecoverable && rotationOf(loaded, null, context.now()).kind === "rotate";
  const done = decideLeak(policy, { canRotate, keepsAuditLog });
  if (done === "delete") deleteLoaded(work, loaded);
  else if (done === "rotate") await rotateLoaded(work, loaded, null);
  else if (done === "disable" && key.enabled && !isDeadForGood(key)) switchKey(work, key, false);
  else if (keepsAuditLog) transaction.update(keyType, key, key);
  else if (done === "disable") return { keyId, action: "disabled", isRepeat: true };
  return auditLeak(work, report, done, { keyId, identityId: loaded.identity?.id ?? null });
}

/** Handles a key that cannot be read: it can be disabled, deleted or only reported. */
async function handleDamaged(
  work: Work,
  report: Report,
  keyId: string,
  choose: () => Promise<LeakPolicy>,
): Promise<LeakedKey> {
  const { context, transaction } = work;
  const record = await readStored(transaction, { kind: "key", id: keyId });
  if (record === null) throw notFound("key");
  const known = await findReport(context, report, "same-place");
  if (known !== null) return known;
  const policy = await choose();
  const done = decideLeak(policy, { canRotate: false, keepsAuditLog: context.keepsAuditLog });
  if (done === "delete") await deleteDamaged(work, keyId);
  else if (done === "disable") switchOffDamaged(work, record);
  return auditLeak(work, report, done, { keyId, identityId: record.link });
}

/**
 * Handles a leaked root key in its own workspace. Once disabled, it can never be enabled again. Its pointer stays, so that a repeat of the
 * report finds the workspace even when the root key is gone.
 */
function reportRootKey(
  caller: OperationContext,
  report: Report,
  { id, hash, workspaceId }: Extract<Holder, { readonly kind: "rootKey" }>,
  policy: LeakPolicy,
): Promise<LeakedKey | null> {
  return transact({ ...caller, workspaceId }, async (work) => {
    const { context, transaction, audit } = work;
    const record = await readStored(transaction, { kind: "rootKey", id });
    const rootKey = decodeOrNull(rootKeyType, record, context);
    // A pointer is only a hint: the hash of the root key itself decides.
    if (record === null || (rootKey !== null && rootKey.hash !== hash))
      return findReport(context, report, "anywhere");
    const known = await findReport(context, report, "same-place");
    if (known !== null) return known;
    if (policy === "report") {
      if (rootKey !== null) transaction.putAnew(record);
      return auditLeak(work, report, policy, { rootKeyId: id });
    }
    // A root key that cannot be read cannot be disabled either.
    if (rootKey === null || (policy === "delete" && context.keepsAuditLog)) {
      await deleteRecord(transaction, rootKeyType, id);
      audit({ type: "root_key.revoked", resourceId: id, unreadable: rootKey === null });
      return auditLeak(work, report, "delete", { rootKeyId: id });
    }
    const { version } = record;
    transaction.putAnew({ ...rootKeyType.encode({ ...rootKey, enabled: false }), version });
    return auditLeak(work, report, "disable", { rootKeyId: id, wasEnabled: rootKey.enabled });
  });
}

/** The owner of a secret, as the store finds it: the key may be damaged, and a root key may be gone. */
export type Holder =
  | { readonly kind: "none" }
  | { readonly kind: "key"; readonly id: string }
  | {
      readonly kind: "rootKey";
      readonly id: string;
      readonly hash: string;
      readonly workspaceId: string;
    };

/** The key or root key of each secret, in one read of the workspace and at most one of the directory; null: cannot be a secret. */
async function findHolders(
  { store, workspaceId, hasher }: Pick<OperationContext, "store" | "workspaceId" | "hasher">,
  secrets: readonly string[],
): Promise<readonly (Holder | null)[]> {
  const wants: Want[] = [];
  const rootWants: Want[] = [];
  const hashed = secrets.map((secret) => {
    if (!canBeSecret(secret)) return null;
    const hashes = hasher.candidates(secret);
    // A key may have the prefix of root keys.
    const mayBeRoot = secret.startsWith(`${ROOT_PREFIX}_`) && secretShape(secret) === "intact";
    const [from, fromRoot] = [wants.length, rootWants.length];
    for (const value of hashes) wants.push({ kind: "key", index: "hash", value });
    if (mayBeRoot) for (const id of hashes) rootWants.push({ kind: "rootKeyPointer", id });
    return { key: [from, wants.length], root: [fromRoot, rootWants.length] } as const;
  });
  const none: Pick<ReadResult, "found"> = { found: [] };
  const [keys, pointers] = await Promise.all([
    wants.length === 0 ? none : store.read(workspaceId, wants),
    rootWants.length === 0 ? none : store.read(DIRECTORY_ID, rootWants),
  ]);
  return hashed.map((place) => {
    if (place === null) return null;
    const first = ({ found }: typeof pointers, [from, to]: readonly [number, number]) =>
      found.slice(from, to).find((one) => one !== null) ?? null;
    const [pointer, key] = [first(pointers, place.root), first(keys, place.key)];
    if (pointer !== null) {
      const { id: hash, ...where } = rootKeyPointerType.decode(pointer.record, DIRECTORY_ID);
      return { kind: "rootKey", id: where.rootKeyId, hash, workspaceId: where.workspaceId };
    }
    return key === null ? { kind: "none" } : { kind: "key", id: key.record.id };
  });
}

/** The report of a leaked secret, without the secret itself. */
export interface Report {
  /** What the audit log says about the place: free of secrets. */
  readonly place: { readonly url: string | null; readonly source: string | null };
  /** Lead from the secret to its reports: `mark` for a new report, `earlierMarks` for those written under earlier peppers. */
  readonly mark: string;
  readonly earlierMarks: readonly string[];
}

/** `secrets`: secrets that the URL may contain, and that must be removed. */
function reportOf(
  { hasher }: Pick<OperationContext, "hasher">,
  { key, url, source }: Leak,
  secrets: readonly string[],
): Report {
  const marked = `leak ${key}`;
  const [, ...earlierMarks] = hasher.candidates(marked);
  return {
    place: { url: withoutSecrets(url, secrets), source: withoutSecrets(source, secrets) },
    mark: hasher.hash(marked),
    earlierMarks,
  };
}

function withoutSecrets(text: string | undefined, secrets: readonly string[]): string | null {
  if (text === undefined || text === "") return null;
  const forms = secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]);
  return forms.reduce((cut, form) => cut.replaceAll(form, "…"), text);
}

/** The latest earlier report of the same secret and place, or null. `anywhere`: otherwise the latest of another place. */
async function findReport(
  context: Pick<OperationContext, "store" | "workspaceId">,
  { mark, earlierMarks, place }: Report,
  where: "same-place" | "anywhere",
): Promise<LeakedKey | null> {
  let elsewhere: LeakedKey | null = null;
  for (const of of [mark, ...earlierMarks].map(leakList)) {
    const want = { kind: "auditEntry", of, limit: 1_000, descending: true } as const;
    for await (const page of listPages(context, want))
      for (const entry of decodeAll(auditEntryType, page, context)) {
        const said = new Map(entry.fields.map(({ field, after = null }) => [field, after]));
        const isSame = (name: "url" | "source") => (said.get(name) ?? null) === place[name];
        const id = entry.keyId === null ? { rootKeyId: entry.resourceId } : { keyId: entry.keyId };
        // An erased entry has no action left: its key was deleted with its user.
        const action = (said.get("action") ?? "deleted") as LeakAction;
        const known: LeakedKey = { ...id, action, isRepeat: true };
        if (isSame("url") && isSame("source")) return known;
        elsewhere ??= known;
      }
  }
  return where === "anywhere" ? elsewhere : null;
}

const ACTIONS: Readonly<Record<LeakPolicy, LeakAction>> = {
  disable: "disabled",
  report: "reported",
  delete: "deleted",
  rotate: "rotated",
};

/** Writes a report to the audit log. `identityId`: of a key. `wasEnabled`: of a root key: whether this call disabled it. */
function auditLeak(
  { audit }: Work,
  { mark, place }: Report,
  done: LeakPolicy,
  {
    identityId = null,
    wasEnabled = false,
    ...leaked
  }: Pick<LeakedKey, "keyId" | "rootKeyId"> & {
    readonly identityId?: string | null;
    readonly wasEnabled?: boolean;
  },
): LeakedKey {
  const action = ACTIONS[done];
  audit({
    type: leaked.keyId === undefined ? "root_key.leaked" : "key.leaked",
    resourceId: leaked.keyId ?? leaked.rootKeyId ?? "",
    identityId,
    leakMark: mark,
    ...(wasEnabled && { before: { enabled: true } }),
    after: { ...(wasEnabled && { enabled: false }), action, ...place },
  });
  return { ...leaked, action, isRepeat: false };
}
