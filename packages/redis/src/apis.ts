import {
  type ApiPatch,
  type ApiRecord,
  type ChangeLog,
  corruptRecord,
  type Page,
  type PageRequest,
} from "@latchkey/core";
import { apiRecord, encodeApi, encodeApiPatch } from "./api-record.js";
import { logArguments } from "./change-arguments.js";
import type { Connection } from "./connection.js";
import type { KeyNames } from "./key-names.js";
import { pageStart, readPage } from "./pages.js";
import { unexpected } from "./replies.js";
import { SCRIPTS } from "./scripts.js";
import { text } from "./values.js";

/** APIs of a workspace. */
export class Apis {
  readonly #connection: Connection;
  readonly #names: KeyNames;

  constructor(connection: Connection, names: KeyNames) {
    this.#connection = connection;
    this.#names = names;
  }

  async insert(api: ApiRecord, log: ChangeLog): Promise<void> {
    const { apis, apiList, changes, changeList } = this.#names.of(api.workspaceId);
    const [status] = await this.#connection.run(
      SCRIPTS.insertApi,
      [apis, apiList, changes, changeList],
      [api.id, encodeApi(api), ...logArguments(log)],
    );
    if (status !== "OK") throw unexpected(status);
  }

  async get(workspaceId: string, apiId: string): Promise<ApiRecord | null> {
    const { apis } = this.#names.of(workspaceId);
    const [stored] = await this.#connection.run(SCRIPTS.getApi, [apis], [apiId]);
    return stored === undefined ? null : apiRecord(workspaceId, apiId, stored);
  }

  async list(workspaceId: string, page: PageRequest): Promise<Page<ApiRecord>> {
    const { apiList, apis } = this.#names.of(workspaceId);
    const reply = await this.#connection.run(
      SCRIPTS.listApis,
      [apiList, apis],
      [pageStart(page), String(page.limit + 1)],
    );
    return readPage(reply, 2, page, ([id, stored]) => apiRecord(workspaceId, text(id), stored));
  }

  async update(
    workspaceId: string,
    apiId: string,
    expectedVersion: number,
    patch: ApiPatch,
    log: ChangeLog,
  ): Promise<"updated" | "not-found" | "stale"> {
    const { apis, workspace, changes, changeList } = this.#names.of(workspaceId);
    const [status] = await this.#connection.run(
      SCRIPTS.updateApi,
      [apis, workspace, changes, changeList],
      [apiId, String(expectedVersion), ...encodeApiPatch(patch), ...logArguments(log)],
    );
    if (status === "UPDATED") return "updated";
    if (status === "NOT_FOUND") return "not-found";
    if (status === "STALE") return "stale";
    if (status === "CORRUPT") throw corruptRecord("api");
    throw unexpected(status);
  }

  async delete(
    workspaceId: string,
    apiId: string,
    log: ChangeLog,
  ): Promise<"deleted" | "not-found" | "protected"> {
    const { apis, workspace, apiList, changes, changeList } = this.#names.of(workspaceId);
    const [status] = await this.#connection.run(
      SCRIPTS.deleteApi,
      [apis, workspace, apiList, changes, changeList],
      [apiId, ...logArguments(log)],
    );
    if (status === "DELETED") return "deleted";
    if (status === "NOT_FOUND") return "not-found";
    if (status === "PROTECTED") return "protected";
    if (status === "CORRUPT") throw corruptRecord("workspace");
    throw unexpected(status);
  }
}
