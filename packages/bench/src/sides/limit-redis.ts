import { createHash, hash as digest } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Redis } from "ioredis";
import type { KeyRow } from "../fixture/rows.js";
import { packageFile } from "../package-file.js";
import { chargedLimits, type Question } from "../questions.js";
import { isInRange, missingOf, rangeOf } from "./grants.js";
import type { Verify } from "./side.js";
import { type LimitVerdict, limitVerdict, NOT_FOUND, shownLimit, unpermitted } from "./verdict.js";

const SCRIPT = readFileSync(packageFile("src/sides/limit-redis.lua"), "utf8");
const ROWS_A_TRIP = 1_000;

/** The script's reply. Numbers are text, as Redis stores them. */
type Reply = readonly [
  code: string,
  keyId: string,
  apiId: string,
  permissions: string,
  expires: string,
  remaining: string,
  identityId: string,
  externalId: string,
  ...counts: string[],
];
const FIRST_COUNT = 8;

/**
 * The hand-written limit on Redis: one EVALSHA on a hash of the key, and on one of its identity if it has one.
 *
 * @param rows - Keys to write first; empty if another process has written them.
 */
export async function redisLimit(
  client: Redis,
  prefix: string,
  rows: readonly KeyRow[],
  question: Question,
): Promise<Verify> {
  const { anyOf, address, cost, hasRequestId, keys } = question;
  const limits = chargedLimits(question);
  const range = rangeOf(keys.addresses);
  const sha1 = createHash("sha1").update(SCRIPT).digest("hex");
  await client.script("LOAD", SCRIPT);
  await writeRows(client, prefix, rows);
  const alternatives = (anyOf ?? []).map((all) => all.join(" ")).join("|");
  const plan = limits.flatMap(({ owner, slot, shape, cost: taken }) => [
    owner === "key" ? 1 : 2,
    slot,
    shape.limit,
    shape.duration,
    taken,
  ]);
  const identityOf = new Map(rows.map(({ secret, identity }) => [secret, identity?.id]));
  const isCounted = keys.remaining !== null || limits.length > 0;

  return async (secret, requestId) => {
    const name = `${prefix}:${digest("sha256", secret, "base64url")}`;
    const identity = identityOf.get(secret);
    const names = [
      name,
      identity === undefined ? name : `${prefix}:identity:${identity}`,
      hasRequestId ? `${name}:${requestId}` : name,
    ];
    const flags = `${isCounted ? 1 : 0}${isInRange(range, address) ? 1 : 0}${hasRequestId ? 1 : 0}`;
    const now = Date.now();
    const reply = (await client.evalsha(
      sha1,
      names.length,
      ...names,
      now,
      flags,
      alternatives,
      cost,
      ...plan,
    )) as Reply | null;
    return reply === null ? NOT_FOUND : verdictOf(reply, now);
  };

  function verdictOf(reply: Reply, now: number): LimitVerdict {
    const [code, keyId, apiId, granted, expiry, left, identityId, externalId] = reply;
    const permissions: readonly string[] = granted.trim().split(" ");
    const remaining = left === "" ? null : Number(left);
    const expires = expiry === "" ? null : Number(expiry);
    const identity = identityId === "" ? null : { id: identityId, externalId };
    const shown = { keyId, apiId, permissions, expires, identity };
    if (code === "INSUFFICIENT_PERMISSIONS")
      return unpermitted(shown, remaining, missingOf(new Set(permissions), anyOf ?? []), now);
    const isEnabled =
      code !== "DISABLED" && code !== "EXPIRED" && !(code === "USAGE_EXCEEDED" && remaining === 0);
    // A refusal because of the record has no counts.
    const seen = reply.length > FIRST_COUNT ? limits : [];
    const counts = seen.map((limit, index) => {
      const startedAt = Number(reply[FIRST_COUNT + 2 * index]);
      const used = Number(reply[FIRST_COUNT + 2 * index + 1]);
      const isExceeded = code === "RATE_LIMITED" && used + limit.cost > limit.shape.limit;
      return shownLimit(limit, used, startedAt, isExceeded);
    });
    return limitVerdict(shown, code, isEnabled, remaining, counts, now);
  }
}

async function writeRows(client: Redis, prefix: string, rows: readonly KeyRow[]): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_A_TRIP) {
    const pipeline = client.pipeline();
    for (const { secret, keyId, apiId, shape, identity, expires } of rows.slice(
      from,
      from + ROWS_A_TRIP,
    )) {
      if (!shape.isKnown) continue;
      pipeline.hset(`${prefix}:${digest("sha256", secret, "base64url")}`, {
        id: keyId,
        apiId,
        enabled: shape.enabled ? "1" : "0",
        expires: expires ?? "",
        permissions: ` ${shape.permissions.join(" ")} `,
        remaining: shape.remaining ?? "",
      });
      if (identity !== null)
        pipeline.hset(`${prefix}:identity:${identity.id}`, {
          id: identity.id,
          externalId: identity.externalId,
        });
    }
    await pipeline.exec();
  }
}
