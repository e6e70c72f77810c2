import type { LimitKind } from "../rules/limit-state.js";
import type { EpochMs } from "../time.js";
import { apiType } from "./api.js";
import { auditEntryType } from "./audit-entry.js";
import { deliveryType, senderType } from "./delivery.js";
import { permissionType, roleType } from "./grants.js";
import { identityType } from "./identity.js";
import { keyType, tagType } from "./key.js";
import { DEADLINE_STAGES, deadlineOf, deadlineType, noticedType } from "./notices.js";
import { portalSessionType } from "./portal-session.js";
import type {
  Expiry,
  RecordClaim,
  RecordKind,
  RecordList,
  RecordType,
  StoredRecord,
} from "./record-type.js";
import { rememberedAnswerType } from "./remembered-answer.js";
import { rootKeyPointerType, rootKeyType } from "./root-key.js";
import { workspaceType } from "./workspace.js";

/** Everything that belongs to a stored record, for copying it. */
export interface RecordLayout {
  readonly claims: readonly RecordClaim[];
  readonly lists: readonly RecordList[];
  /** The same for all records that share their counters; null if it shares none. */
  readonly sharedCountersId: string | null;
  /** The limits whose windows its counters may have. */
  readonly limits: readonly (LimitKind & { readonly name: string })[];
  /** Its record in the directory, or null. */
  readonly pointer: StoredRecord | null;
  /** When it expires, and the deadline records that it may have, the last stage first. Once everything was noticed, it has none. */
  readonly expiry: { readonly at: EpochMs; readonly deadlines: readonly StoredRecord[] } | null;
}

const TYPES: { readonly [Kind in RecordKind]: RecordType<unknown> } = {
  workspace: workspaceType,
  api: apiType,
  key: keyType,
  identity: identityType,
  role: roleType,
  permission: permissionType,
  rootKey: rootKeyType,
  rootKeyPointer: rootKeyPointerType,
  auditEntry: auditEntryType,
  rememberedAnswer: rememberedAnswerType,
  deadline: deadlineType,
  delivery: deliveryType,
  sender: senderType,
  noticed: noticedType,
  portalSession: portalSessionType,
  tag: tagType,
};

/**
 * Lists of all records of a workspace, except the workspace's own and keys, which have a list per API (`keysOfApi`).
 *
 * A copy that reads them in this order, with the keys after their APIs, loses the least of what is written meanwhile. A record that says
 * that something was done comes before what was done: then a call runs again, or an event is sent or noticed again, rather than never. What
 * keys refer to comes after them, in case it is new. An event of the log is about a record that came before it.
 */
export const RECORD_LISTS: readonly { readonly kind: RecordKind; readonly list: string }[] = (
  [
    "rememberedAnswer",
    "sender",
    "delivery",
    "noticed",
    "api",
    "identity",
    "role",
    "permission",
    "rootKey",
    "portalSession",
    "tag",
    "deadline",
    "auditEntry",
  ] as const
).map((kind) => ({ kind, list: kind }));

/** @throws LatchkeyError `STORE_CORRUPT` if the record is damaged. */
export function layoutOf(stored: StoredRecord, workspaceId: string): RecordLayout {
  const type: RecordType<unknown> = TYPES[stored.kind];
  const value = type.decode(stored, workspaceId);
  const key = stored.kind === "key" ? keyType.decode(stored, workspaceId) : null;
  const identity = stored.kind === "identity" ? identityType.decode(stored, workspaceId) : null;
  return {
    claims: type.claims(value),
    lists: type.lists(value),
    sharedCountersId: key?.sharedCountersId ?? null,
    limits: (key ?? identity)?.ratelimits ?? [],
    pointer: stored.kind === "rootKey" ? pointerTo(stored, workspaceId) : null,
    expiry: withDeadlines(type.expiry(value), workspaceId),
  };
}

function withDeadlines(expiry: Expiry | null, workspaceId: string): RecordLayout["expiry"] {
  if (expiry === null) return null;
  const deadlines = DEADLINE_STAGES.map((stage) =>
    deadlineType.encode(deadlineOf(stage, expiry, workspaceId)),
  );
  return { at: expiry.at, deadlines };
}

function pointerTo(stored: StoredRecord, workspaceId: string): StoredRecord {
  const { hash, id } = rootKeyType.decode(stored, workspaceId);
  return rootKeyPointerType.encode({ id: hash, workspaceId, rootKeyId: id });
}
