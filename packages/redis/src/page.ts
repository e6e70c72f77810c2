import type { LoadedRecord, PageResult, PageWant } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import type { Names } from "./engine/names.js";
import { SCRIPTS } from "./engine/scripts.js";
import { asList, whole } from "./engine/stored-values.js";
import type { Reading } from "./read.js";

/** What comes after a space: a small list ends before it. */
const BEYOND_SPACE = "!";

/** Some ids of a list, with what else is known. */
interface Listed {
  readonly revision: number;
  readonly size: number;
  readonly ids: readonly string[];
  /** Of those that are keys and exist. */
  readonly addresses: ReadonlyMap<string, string>;
}

/** Reads lists in two round trips: which records, then these. */
export class Paging {
  readonly #connection: Connection;
  readonly #names: Names;
  readonly #reading: Reading;

  constructor(connection: Connection, names: Names, reading: Reading) {
    this.#connection = connection;
    this.#names = names;
    this.#reading = reading;
  }

  async page(workspaceId: string, want: PageWant): Promise<PageResult> {
    const { kind, limit } = want;
    const found: LoadedRecord[] = [];
    let after = want.after;
    let first: Listed | undefined;
    for (;;) {
      const listed = await this.#list(workspaceId, { ...want, after });
      // The earliest revision: what is read is as fresh as that, or fresher.
      first ??= listed;
      const { ids, addresses } = listed;
      const wants = ids.map((id) => ({ kind, id }));
      if (wants.length > 0) {
        const read = await this.#reading.read(workspaceId, wants, addresses);
        for (const loaded of read.found) if (loaded !== null) found.push(loaded);
      }
      after = ids.at(-1) ?? null;
      if (ids.length > limit && found.length <= limit) continue;
      const { revision, size } = first;
      return { revision, size, found: found.slice(0, limit), hasMore: found.length > limit };
    }
  }

  /** One id more than the page has says that there are more. */
  async #list(
    workspaceId: string,
    { kind, list, of, after, limit, descending = false }: PageWant,
  ): Promise<Listed> {
    const names = this.#names.of(workspaceId);
    const all = names.list(list);
    const { bucket, tag } =
      of === undefined ? { bucket: all, tag: null } : names.smallList(list, of);
    const start = tag === null ? "" : `${tag} `;
    const lowest = tag === null ? "-" : `[${start}`;
    const highest = tag === null ? "+" : `(${tag}${BEYOND_SPACE}`;
    const from = after === null ? null : `(${start}${after}`;
    const range = descending ? [from ?? highest, lowest] : [from ?? lowest, highest];
    const keys = [names.revision, all, bucket, ...(kind === "key" ? [names.addresses] : [])];
    const args = [descending ? "d" : "a", ...range, String(limit + 1)];
    return this.#connection.run(SCRIPTS.page, keys, args, (answer) => {
      const [revision, size, members, addresses] = asList(answer, "list");
      const ids = asList(members, "list").map((member) => String(member).slice(start.length));
      const places = asList(addresses, "list");
      return {
        revision: whole(revision, "revision"),
        size: whole(size, "list"),
        ids,
        addresses: new Map(
          ids.flatMap((id, index) =>
            typeof places[index] === "string" ? [[id, places[index]] as const] : [],
          ),
        ),
      };
    });
  }
}
