import { type ApiView, type Latchkey, LatchkeyError } from "@latchkey/core";
import { apiNameIssues } from "./prepare.js";
import type { ImportRow, RowIssue } from "./row.js";

/** The API that a row goes to: one that exists, one that is to be made, or why there is none. */
export type ApiChoice =
  | { readonly apiId: string }
  | { readonly newName: string }
  | { readonly issue: RowIssue };

/** Most ids that are remembered as existing or not, and most characters of one. */
const [MAX_REMEMBERED, MAX_ID] = [10_000, 128];

/** The APIs of a workspace, page by page. */
export async function* allApis(latchkey: Pick<Latchkey, "listApis">): AsyncGenerator<ApiView> {
  let cursor: string | undefined;
  do {
    const page = await latchkey.listApis(cursor === undefined ? {} : { cursor });
    yield* page.apis;
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

/** Says which API a row goes to: the one that is given for all, else its own, else the one of the name that it gives. */
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
      const message = own === undefined ? "is missing" : "is no API of this workspace";
      return { issue: { field: "apiId", message: `${message}: name the API of all rows` } };
    }
    this.#idsByName ??= await this.#list();
    const known = this.#idsByName.get(name);
    if (known !== undefined) return { apiId: known };
    const [issue] = await apiNameIssues("api", name);
    return issue === undefined ? { newName: name } : { issue };
  }

  /** Makes known that an API was made. */
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
    // Of a row: another in each, and as long as a row may be.
    if (this.#exists.size >= MAX_REMEMBERED) this.#exists.clear();
    if (apiId.length <= MAX_ID) this.#exists.set(apiId, exists);
    return exists;
  }

  /** Of several of one name the one that was made first. */
  async #list(): Promise<Map<string, string>> {
    const ids = new Map<string, string>();
    for await (const { id, name } of allApis(this.#latchkey)) if (!ids.has(name)) ids.set(name, id);
    return ids;
  }
}
