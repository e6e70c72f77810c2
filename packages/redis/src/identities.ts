import type {
  IdentityLookup,
  IdentityPatch,
  IdentityRecord,
  Page,
  PageRequest,
} from "@latchkey/core";
import { corruptRecord } from "@latchkey/core";
import type { Connection } from "./connection.js";
import { digest, identityCountersName, identityWindowField, type KeyNames } from "./key-names.js";
import { encodeIdentity, encodeLimits, identityRecord } from "./records.js";
import { unexpected } from "./replies.js";
import { SCRIPTS } from "./scripts.js";
import { text, whole } from "./values.js";

/** Identities: the records, the lists, and which limits keep their windows. */
export class Identities {
  readonly #connection: Connection;
  readonly #names: KeyNames;

  constructor(connection: Connection, names: KeyNames) {
    this.#connection = connection;
    this.#names = names;
  }

  async insert(identity: IdentityRecord): Promise<"inserted" | "external-id-taken"> {
    const names = this.#names.of(identity.workspaceId);
    const keys = [
      names.identities,
      names.externalIds,
      names.identityList,
      identityCountersName(names, identity.id),
    ];
    const { id, externalId, version } = identity;
    const args = [digest(externalId), id, encodeIdentity(identity), String(version)];
    const [status] = await this.#connection.run(SCRIPTS.insertIdentity, keys, args);
    if (status === "INSERTED") return "inserted";
    if (status === "EXTERNAL_ID_TAKEN") return "external-id-taken";
    throw unexpected(status);
  }

  async get(workspaceId: string, lookup: IdentityLookup): Promise<IdentityRecord | null> {
    const { identities, externalIds } = this.#names.of(workspaceId);
    const args = "identityId" in lookup ? [lookup.identityId, ""] : ["", digest(lookup.externalId)];
    const reply = await this.#connection.run(SCRIPTS.getIdentity, [identities, externalIds], args);
    return reply.length === 0 ? null : identityRecord(workspaceId, text(reply[0]), reply[1]);
  }

  async list(workspaceId: string, page: PageRequest): Promise<Page<IdentityRecord>> {
    const { identityList, identities } = this.#names.of(workspaceId);
    const begin = page.afterId === null ? "-" : `(${page.afterId}`;
    const args = [begin, String(page.limit + 1)];
    const reply = await this.#connection.run(
      SCRIPTS.listIdentities,
      [identityList, identities],
      args,
    );
    const [total, ...entries] = reply;
    const shown = entries.slice(0, 2 * page.limit);
    const items = shown.flatMap((id, at) =>
      at % 2 === 0 ? [identityRecord(workspaceId, text(id), shown[at + 1])] : [],
    );
    return { items, hasMore: entries.length > shown.length, total: whole(total) };
  }

  async update(
    workspaceId: string,
    identityId: string,
    expectedVersion: number,
    { meta, ratelimits }: IdentityPatch,
  ): Promise<"updated" | "not-found" | "stale"> {
    const names = this.#names.of(workspaceId);
    const keys = [names.identities, identityCountersName(names, identityId)];
    const args = [
      identityId,
      String(expectedVersion),
      ratelimits === undefined ? "" : encodeLimits(ratelimits),
      meta === undefined ? "" : JSON.stringify(meta),
      ...(ratelimits ?? []).map(identityWindowField),
    ];
    const [status] = await this.#connection.run(SCRIPTS.updateIdentity, keys, args);
    if (status === "UPDATED") return "updated";
    if (status === "NOT_FOUND") return "not-found";
    if (status === "STALE") return "stale";
    if (status === "CORRUPT") throw corruptRecord("identity");
    throw unexpected(status);
  }
}
