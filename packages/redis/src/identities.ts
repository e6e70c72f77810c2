import {
  type ChangeLog,
  corruptRecord,
  type IdentityLookup,
  type IdentityPatch,
  type IdentityRecord,
  type LoadedIdentity,
  type Page,
  type PageRequest,
  type UpdateIdentityResult,
  type Usage,
} from "@latchkey/core";
import { logArguments } from "./change-arguments.js";
import type { Connection } from "./connection.js";
import { encodeIdentityPatch, identityArguments, loadedIdentity } from "./identity-record.js";
import { digest, identityCountersName, identityWindowField, type KeyNames } from "./key-names.js";
import { pageStart, readPage } from "./pages.js";
import { unexpected } from "./replies.js";
import { SCRIPTS } from "./scripts.js";
import { changedUses, encodeUses, usageArguments, usageRefused } from "./uses.js";

/** Identities: the records, the uses and windows that their keys share, and the lists. */
export class Identities {
  readonly #connection: Connection;
  readonly #names: KeyNames;

  constructor(connection: Connection, names: KeyNames) {
    this.#connection = connection;
    this.#names = names;
  }

  async insert(
    identity: IdentityRecord,
    usage: Usage,
    log: ChangeLog,
  ): Promise<"inserted" | "external-id-taken"> {
    const names = this.#names.of(identity.workspaceId);
    const keys = [
      names.identities,
      names.externalIds,
      names.identityList,
      identityCountersName(names, identity.id),
      names.uses,
      names.changes,
      names.changeList,
    ];
    const args = [
      digest(identity.externalId),
      ...identityArguments(identity),
      encodeUses(usage),
      ...logArguments(log),
    ];
    const [status] = await this.#connection.run(SCRIPTS.insertIdentity, keys, args);
    if (status === "INSERTED") return "inserted";
    if (status === "EXTERNAL_ID_TAKEN") return "external-id-taken";
    throw unexpected(status);
  }

  async get(workspaceId: string, lookup: IdentityLookup): Promise<LoadedIdentity | null> {
    const { identities, externalIds, uses } = this.#names.of(workspaceId);
    const args = "identityId" in lookup ? [lookup.identityId, ""] : ["", digest(lookup.externalId)];
    const keys = [identities, externalIds, uses];
    const reply = await this.#connection.run(SCRIPTS.getIdentity, keys, args);
    return reply.length === 0 ? null : loadedIdentity(workspaceId, reply);
  }

  async list(workspaceId: string, page: PageRequest): Promise<Page<LoadedIdentity>> {
    const { identityList, identities, uses } = this.#names.of(workspaceId);
    const reply = await this.#connection.run(
      SCRIPTS.listIdentities,
      [identityList, identities, uses],
      [pageStart(page), String(page.limit + 1)],
    );
    return readPage(reply, 3, page, (values) => loadedIdentity(workspaceId, values));
  }

  async update(
    workspaceId: string,
    identityId: string,
    expectedVersion: number,
    patch: IdentityPatch,
    log: ChangeLog,
  ): Promise<UpdateIdentityResult> {
    const names = this.#names.of(workspaceId);
    const keys = [
      names.identities,
      identityCountersName(names, identityId),
      names.uses,
      names.changes,
      names.changeList,
    ];
    const { ratelimits, meta, refill, usage } = patch;
    const isConfigured = [ratelimits, meta, refill].some((field) => field !== undefined);
    const args = [
      identityId,
      String(expectedVersion),
      isConfigured ? "1" : "",
      ...encodeIdentityPatch(patch),
      ...usageArguments(usage),
      String(ratelimits?.length ?? -1),
      ...(ratelimits ?? []).map(identityWindowField),
      ...logArguments(log),
    ];
    const reply = await this.#connection.run(SCRIPTS.updateIdentity, keys, args);
    switch (reply[0]) {
      case "UPDATED":
        return { kind: "updated", usage: changedUses(reply) };
      case "NOT_FOUND":
        return { kind: "not-found" };
      case "STALE":
        return { kind: "stale" };
      case "CORRUPT":
        throw corruptRecord("identity");
      default:
        return usageRefused(reply);
    }
  }

  /** Two steps: the external id, which never changes, and the deletion. */
  async delete(
    workspaceId: string,
    identityId: string,
    log: ChangeLog,
  ): Promise<"deleted" | "not-found"> {
    const loaded = await this.get(workspaceId, { identityId });
    if (loaded === null) return "not-found";
    const names = this.#names.of(workspaceId);
    const keys = [
      names.identities,
      names.externalIds,
      names.identityList,
      identityCountersName(names, identityId),
      names.uses,
      names.changes,
      names.changeList,
    ];
    const args = [identityId, digest(loaded.identity.externalId), ...logArguments(log)];
    const [status] = await this.#connection.run(SCRIPTS.deleteIdentity, keys, args);
    if (status === "DELETED") return "deleted";
    if (status === "NOT_FOUND") return "not-found";
    throw unexpected(status);
  }
}
