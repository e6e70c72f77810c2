import type { LoadedRecord, PageResult, PageWant } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import type { Names } from "./engine/names.js";
import { SCRIPTS } from "./engine/scripts.js";
import { asList, whole } from "./engine/stored-values.js";
import type { Reading } from "./read.js";

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
    const first = await this.#list(workspaceId, want);
    const found: LoadedRecord[] = [];
    for (let listed = first; ; ) {
      const { ids, addresses } = listed;
      const wants = ids.map((id) => ({ kind, id }));
      const read = ids.length > 0 && (await this.#reading.read(workspaceId, wants, addresses));
      if (read) found.push(...read.found.filter((loaded) => loaded !== null));
      if (ids.length <= limit || found.length > limit) break;
      // Ids whose record is gone are no reason to end.
      listed = await this.#list(workspaceId, { ...want, after: ids.at(-1) as string });
    }
    // The first revision: what was read afterwards is as fresh as that, or fresher.
    const { revision, size } = first;
    return { revision, size, found: found.slice(0, limit), hasMore: found.length > limit };
  }

  /** One id more than the page has says that there are more. */
  async #list(workspaceId: string, want: PageWant) {
    const { kind, list, of, after, limit, descending = false } = want;
    const names = this.#names.of(workspaceId);
    const all = names.list(list);
    const { bucket, tag } = of === undefined ? { bucket: all, tag: "" } : names.smallList(list, of);
    const start = tag === "" ? "" : `${tag} `;
    // "!" is what comes after a space.
    const [lowest, highest] = tag === "" ? ["-", "+"] : [`[${start}`, `(${tag}!`];
    const from = after === null ? null : `(${start}${after}`;
    const range = descending ? [from ?? highest, lowest] : [from ?? lowest, highest];
    const keys = [names.revision, all, bucket, ...(kind === "key" ? [names.addresses] : [])];
    const args = [descending ? "d" : "a", ...range, String(limit + 1)];
    return this.#connection.run(SCRIPTS.page, keys, args, (answer) => {
      const [revision, size, members, addresses] = asList(answer, "list");
      const ids = asList(members, "list").map((member) => String(member).slice(start.length));
      const places = asList(addresses, "list").map((address, index) => [ids[index], address]);
      return {
        revision: whole(revision, "revision"),
        size: whole(size, "list"),
        ids,
        addresses: new Map(places.filter(([, address]) => address !== null) as [string, string][]),
      };
    });
  }
}
