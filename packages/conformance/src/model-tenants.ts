import type {
  ApiPatch,
  ApiRecord,
  ChangeLog,
  RootKeyRecord,
  WorkspaceRecord,
} from "@latchkey/core";
import { note } from "./model-log.js";
import { given, type Model } from "./model-state.js";

/** Mirrors `insertWorkspace`. */
export function insertWorkspace(
  model: Model,
  { id, name, enabled }: WorkspaceRecord,
  log: ChangeLog,
): "inserted" | "taken" {
  if (model.workspaces.has(id)) return "taken";
  model.workspaces.set(id, { name, enabled });
  note(model, log);
  return "inserted";
}

/** Mirrors `setWorkspaceEnabled`. */
export function setWorkspaceEnabled(
  model: Model,
  id: string,
  enabled: boolean,
  log: ChangeLog,
): void {
  model.workspaces.set(id, { name: model.workspace(id).name, enabled });
  note(model, log);
}

/** Mirrors `insertApi`. */
export function insertApi(model: Model, api: ApiRecord, log: ChangeLog): void {
  model.apis.push(api);
  note(model, log);
}

/** Mirrors `updateApi`. */
export function updateApi(
  model: Model,
  workspaceId: string,
  apiId: string,
  expectedVersion: number,
  patch: ApiPatch,
  log: ChangeLog,
): "updated" | "not-found" | "stale" {
  const api = model.api(workspaceId, apiId);
  if (api === undefined) return "not-found";
  if (api.version !== expectedVersion) return "stale";
  const updated = { ...api, ...given(patch), version: api.version + 1 };
  model.apis = model.apis.map((known) => (known === api ? updated : known));
  note(model, log);
  return "updated";
}

/** Mirrors `deleteApi`. */
export function deleteApi(
  model: Model,
  workspaceId: string,
  apiId: string,
  log: ChangeLog,
): "deleted" | "not-found" | "protected" {
  const api = model.api(workspaceId, apiId);
  if (api === undefined) return "not-found";
  if (api.deleteProtection) return "protected";
  model.apis = model.apis.filter((known) => known !== api);
  note(model, log);
  return "deleted";
}

/** Mirrors `insertRootKey`. */
export function insertRootKey(model: Model, rootKey: RootKeyRecord, log: ChangeLog): void {
  model.rootKeys.push(rootKey);
  note(model, log);
}

/** Mirrors `findRootKey`. */
export function findRootKey(model: Model, hash: string) {
  const rootKey = model.rootKeys.find((known) => known.hash === hash);
  return rootKey ? { rootKey, workspace: model.workspace(rootKey.workspaceId) } : null;
}

/** Mirrors `deleteRootKey`. */
export function deleteRootKey(
  model: Model,
  workspaceId: string,
  rootKeyId: string,
  log: ChangeLog,
): "deleted" | "not-found" {
  const isMeant = (known: RootKeyRecord) =>
    known.id === rootKeyId && known.workspaceId === workspaceId;
  if (!model.rootKeys.some(isMeant)) return "not-found";
  model.rootKeys = model.rootKeys.filter((known) => !isMeant(known));
  note(model, log);
  return "deleted";
}
