import type { RawRecord, RawStore } from "./rows.js";

/** Maps in memory. A list is an array of ids; callers insert them in ascending order. */
export function rawMemory(): RawStore {
  const records = new Map<string, RawRecord>();
  const claims = new Map<string, string>();
  const lists = new Map<string, string[]>();
  return {
    async write(rows) {
      for (const { name } of rows.claims) if (claims.has(name)) throw new Error("taken");
      for (const { name, id } of rows.claims) claims.set(name, id);
      for (const record of rows.records) records.set(record.id, { ...record });
      for (const { list, id } of rows.entries) {
        const ids = lists.get(list);
        if (ids === undefined) lists.set(list, [id]);
        else ids.push(id);
      }
    },
    async page(list, after, limit) {
      const ids = lists.get(list) ?? [];
      const start = after === "" ? 0 : placeAfter(ids, after);
      return ids.slice(start, start + limit).map((id) => records.get(id) as RawRecord);
    },
  };
}

function placeAfter(ids: readonly string[], after: string): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ids[middle] as string) <= after) low = middle + 1;
    else high = middle;
  }
  return low;
}
