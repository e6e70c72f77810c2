import { type ApiList, type Latchkey, LatchkeyError } from "@latchkey/core";
import { apiNameIssues } from "./prepare.js";
import type { ImportRow, RowIssue } from "./row.js";

/** The API for a row: an existing one, one to create, or the reason why there is none. */
export type ApiChoice =
  | { readonly apiId: string }
  | { readonly newName: string }
  | { readonly issue: RowIssue };

/** Maximum number of ids remembered as existing or missing, and their maximum length. */
const [MAX_REMEMBERED, MAX_ID] = [10_000, 128];

/** The APIs of a workspace, page by page. */
export async function* apiPages(latchkey: Pick<Latchkey, "listApis">): AsyncGenerator<ApiList> {
  let cursor: string | undefined;
  do {
    const page = await latchkey.listApis(cursor === undefined ? {} : { cursor });
    yield page;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/** @throws LatchkeyError `BAD_REQUEST` for a name that no API can have. */
export async function assertApiName(apiName: string): Promise<void> {
  const issues = await apiNameIssues("apiName", apiName);
  if (issues.length === 0) return;
  throw new LatchkeyError(
    "BAD_REQUEST",
    issues.map(({ field, message }) => `"${field}" ${message}`).join("; "),
    {
      issues: issues.map(({ field, message }) => ({ path: field, message })),
    },
  );
}

/** Finds the API of a row: the one given for all rows, otherwise the row's id of one, otherwise the one with the row's name. */
export class Apis {
  readonly #latchkey: Pick<Latchkey, "getApi" | "listApis">;
  readonly #given: { readonly apiId?: string | undefined; readonly apiName?: string | undefined };
  readonly #exists = new Map<string, boolean>();
  #idsByName: Map<string, string> | null = null;

  constructor(
    latchkey: Pick<Latchkey, "getApi" | "listApis">,
    given: { readonly apiId?: string | undefined; readonly apiName?: string | undefined },
  ) {
    this.#latchkey = latchkey;
    this.#given = given;
  }

  async choose({ key, api }: ImportRow): Promise<ApiChoice> {
    const { apiId, apiName } = this.#given;
    if (apiId !== undefined) return { apiId };
    const own = key.apiId;
    if (apiName === undefined && typeof own === "string" && (await this.#has(own)))
      return { apiId: own };
    const name = apiName ?? api;
    if (name === undefined) {
      const message = own === undefined ? "is missing" : "is not an API of this workspace";
      return { issue: { field: "apiId", message: `${message}: name the API of all rows` } };
    }
    this.#idsByName ??= await this.#list();
    const known = this.#idsByName.get(name);
    if (known !== undefined) return { apiId: known };
    const [issue] = await apiNameIssues("api", name);
    return issue === undefined ? { newName: name } : { issue };
  }

  /** Registers an API that was created. */
  add(name: string, apiId: string): void {
    this.#idsByName?.set(name, apiId);
  }

  async #has(apiId: string): Promise<boolean> {
    const known = this.#exists.get(apiId);
    if (known !== undefined) return known;
    const exists = await this.#latchkey.getApi({ apiId }).then(
      () => true,
      (error: unknown) => {
        if (error instanceof LatchkeyError && ["NOT_FOUND", "BAD_REQUEST"].includes(error.code))
          return false;
        throw error;
      },
    );
    // Bounded, because each row may bring another id, and an id may be as long as a row.
    if (this.#exists.size >= MAX_REMEMBERED) this.#exists.clear();
    if (apiId.length <= MAX_ID) this.#exists.set(apiId, exists);
    return exists;
  }

  /** APIs by name. If several share a name, the oldest one. */
  async #list(): Promise<Map<string, string>> {
    const ids = new Map<string, string>();
    for await (const { apis } of apiPages(this.#latchkey))
      for (const { id, name } of apis) if (!ids.has(name)) ids.set(name, id);
    return ids;
  }
}
