import {
  type ChangeLog,
  changeUsage,
  type IdentityLookup,
  type IdentityPatch,
  type IdentityRecord,
  type LoadedIdentity,
  type UpdateIdentityResult,
  type Usage,
} from "@latchkey/core";
import { note } from "./model-log.js";
import { isSameUser } from "./model-references.js";
import { given, keepWindows, type Model, type ModelIdentity } from "./model-state.js";

/** Mirrors `insertIdentity`. */
export function insertIdentity(
  model: Model,
  identity: IdentityRecord,
  usage: Usage,
  log: ChangeLog,
): "inserted" | "external-id-taken" {
  if (model.identities.some(({ record }) => isSameUser(record, identity)))
    return "external-id-taken";
  model.identities.push({ record: identity, usage });
  note(model, log);
  return "inserted";
}

/** Mirrors `getIdentity`. */
export function getIdentity(
  model: Model,
  workspaceId: string,
  lookup: IdentityLookup,
): LoadedIdentity | null {
  const found = model.identities.find(
    ({ record }) =>
      record.workspaceId === workspaceId &&
      ("identityId" in lookup
        ? record.id === lookup.identityId
        : record.externalId === lookup.externalId),
  );
  return found === undefined ? null : loadIdentity(found);
}

/** An identity as it is read. */
export function loadIdentity({ record, usage }: ModelIdentity): LoadedIdentity {
  return { identity: record, usage };
}

/** Mirrors `updateIdentity`. */
export function updateIdentity(
  model: Model,
  workspaceId: string,
  id: string,
  expectedVersion: number,
  patch: IdentityPatch,
  log: ChangeLog,
): UpdateIdentityResult {
  const identity = model.identity(workspaceId, id);
  if (identity === undefined) return { kind: "not-found" };
  const { record } = identity;
  if (record.version !== expectedVersion) return { kind: "stale" };
  const { usage, ...fields } = patch;
  const changed = usage && changeUsage(identity.usage, usage);
  if (changed && changed.kind !== "changed") return { kind: "usage-refused", reason: changed };
  const configuration = given(fields);
  const rise = Object.keys(configuration).length > 0 ? 1 : 0;
  identity.record = { ...record, ...configuration, version: record.version + rise };
  if (changed) identity.usage = changed.usage;
  if (patch.ratelimits) keepWindows(model, id, patch.ratelimits);
  note(model, log);
  return { kind: "updated", usage: identity.usage };
}

/** Mirrors `deleteIdentity`. */
export function deleteIdentity(
  model: Model,
  workspaceId: string,
  id: string,
  log: ChangeLog,
): "deleted" | "not-found" {
  const identity = model.identity(workspaceId, id);
  if (identity === undefined) return "not-found";
  model.identities = model.identities.filter((known) => known !== identity);
  for (const key of model.keys) {
    if (key.record.identityId === id) key.record = { ...key.record, identityId: null };
  }
  note(model, log);
  return "deleted";
}

/**
 * Id of the identity with the candidate's external id, which is the candidate where there was none: made on demand, it
 * has no number of uses.
 */
export function link(model: Model, candidate: IdentityRecord, created: string[]): string {
  const usage = { remaining: null, refilledAt: candidate.createdAt };
  if (insertIdentity(model, candidate, usage, []) === "inserted") created.push(candidate.id);
  const linked = model.identities.find(({ record }) => isSameUser(record, candidate));
  return (linked as ModelIdentity).record.id;
}
