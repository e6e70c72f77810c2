import type { AuditEvent, KeyStore, Latchkey } from "@latchkey/core";

/** Calls notice until nothing is left. */
export async function sweep(latchkey: Latchkey, limit?: number): Promise<void> {
  let cursor: string | undefined;
  do ({ cursor } = await latchkey.notice({ limit, cursor }));
  while (cursor !== undefined);
}

/** All events of the workspace, in their order. */
export async function readLog(latchkey: Latchkey): Promise<readonly AuditEvent[]> {
  const events: AuditEvent[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await latchkey.readEvents({ after });
    events.push(...page.events);
    if (page.cursor === after) return events;
    after = page.cursor;
  }
}

/** Ids of the deadlines in the store. */
export async function waiting(store: KeyStore): Promise<readonly string[]> {
  const want = { kind: "deadline", list: "deadline", after: null, limit: 1_000 } as const;
  const { found, size } = await store.page("ws_default", want);
  if (size !== found.length) throw new Error(`the list has ${size}, and ${found.length} were read`);
  return found.map(({ record }) => record.id);
}

/** A key according to the log, and how often its expiry was moved. */
interface LoggedKey {
  expires: number | null;
  moves: number;
  readonly noticed: Set<string>;
}

/**
 * The model: follows every key through the log, and returns which expiries were noticed and which should have been by now. Fails if the log
 * notices an expiry that the key does not have at that moment.
 */
export function noticedByTheLog(
  log: readonly AuditEvent[],
  { now, within }: { readonly now: number; readonly within: number },
): { readonly noticed: readonly string[]; readonly missing: readonly string[] } {
  const keys = new Map<string, LoggedKey>();
  const noticed: string[] = [];
  const move = (keyId: string, expires: number | null) => {
    const key = keys.get(keyId) ?? { expires, moves: 0, noticed: new Set() };
    keys.set(keyId, key);
    key.expires = expires;
    key.moves += 1;
    key.noticed.clear();
  };
  for (const { type, keyId = "", at, changes } of log) {
    const change = changes.find(({ field }) => field === "expires");
    const expires = (change?.after ?? null) as number | null;
    if (type === "key.created") move(keyId, expires);
    else if (type === "key.deleted") keys.delete(keyId);
    else if (type === "key.expiresSoon" || type === "key.hasExpired") {
      const key = keys.get(keyId);
      const left = (key?.expires ?? Number.NaN) - at;
      const holds = type === "key.hasExpired" ? left <= 0 : left > 0 && left <= within;
      if (!holds || key?.expires !== expires) throw new Error(`${type} of ${keyId} is not so`);
      noticed.push(`${type} ${keyId} ${key.moves}`);
      key.noticed.add(type);
    } else if (change !== undefined) move(keyId, expires);
  }
  const missing = [...keys].flatMap(([keyId, key]) => {
    if (key.expires === null || key.expires - now > within) return [];
    const type = key.expires <= now ? "key.hasExpired" : "key.expiresSoon";
    return key.noticed.has(type) ? [] : [`${type} of ${keyId}`];
  });
  return { noticed, missing };
}
