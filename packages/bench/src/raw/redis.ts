import type { Redis } from "ioredis";
import type { RawRecord, RawStore } from "./rows.js";

/** A raw store on Redis: hashes and sorted sets, written in one MULTI. A page takes two trips, one for the ids and one for the records. */
export function rawRedis(client: Redis): RawStore {
  return {
    async write(rows) {
      const pipeline = client.multi();
      for (const { id, kind, version, link, body, remaining } of rows.records) {
        const fields = { kind, version, link: link ?? "", body: JSON.stringify(body) };
        const counter = remaining === null ? {} : { remaining };
        pipeline.hset(`raw:${id}`, { ...fields, ...counter });
      }
      for (const { name, id } of rows.claims) pipeline.set(`raw:${name}`, id, "NX");
      for (const { list, id } of rows.entries) pipeline.zadd(`raw:${list}`, 0, id);
      await pipeline.exec();
    },
    async page(list, after, limit) {
      const start = after === "" ? "-" : `(${after}`;
      const ids = await client.zrange(`raw:${list}`, start, "+", "BYLEX", "LIMIT", 0, limit);
      const pipeline = client.pipeline();
      for (const id of ids) pipeline.hmget(`raw:${id}`, ...FIELDS);
      const replies = (await pipeline.exec()) ?? [];
      return replies.map(([, fields], index): RawRecord => {
        const [kind, version, link, body, remaining] = fields as (string | null)[];
        return {
          id: ids[index] as string,
          kind: kind ?? "",
          version: Number(version),
          link: link === "" || link === undefined ? null : link,
          body: JSON.parse(body ?? "{}"),
          remaining: remaining === null ? null : Number(remaining),
        };
      });
    },
  };
}

const FIELDS = ["kind", "version", "link", "body", "remaining"] as const;
