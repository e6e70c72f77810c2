import { createHash, hash as digest } from "node:crypto";
import type { Redis } from "ioredis";
import { type LimitWork, PERMISSION, type Verify } from "./limits.js";

/** The least script that answers: one hash, its checks, its uses and one window. No versions, no identity. */
const SCRIPT = `
local key = redis.call("HMGET", KEYS[1], "enabled", "expires", "remaining", "max", "startedAt", "used", "permissions")
if key[1] ~= "1" then return 0 end
if ARGV[2] and not string.find(key[7], " " .. ARGV[2] .. " ", 1, true) then return 0 end
local now = tonumber(ARGV[1])
if key[2] ~= "" and now >= tonumber(key[2]) then return 0 end
local startedAt = now - now % 60000
local used = tonumber(key[5]) == startedAt and tonumber(key[6]) or 0
local remaining = tonumber(key[3])
if used >= tonumber(key[4]) or remaining <= 0 then return 0 end
redis.call("HSET", KEYS[1], "remaining", string.format("%.0f", remaining - 1), "startedAt",
  string.format("%.0f", startedAt), "used", string.format("%.0f", used + 1))
return 1`;

/** One EVALSHA on a hash of each key; the caller's client is not closed. */
export async function redisLimit(
  client: Redis,
  secrets: readonly string[],
  { asksPermission }: LimitWork,
): Promise<Verify> {
  const sha1 = createHash("sha1").update(SCRIPT).digest("hex");
  await client.script("LOAD", SCRIPT);
  const nameOf = (secret: string) => `limit:${digest("sha256", secret, "base64url")}`;
  const pipeline = client.pipeline();
  for (const secret of secrets) {
    const fields = { enabled: "1", expires: "", remaining: "1000000000000", max: "1000000000000" };
    pipeline.hset(nameOf(secret), {
      ...fields,
      startedAt: "0",
      used: "0",
      permissions: ` ${PERMISSION} `,
    });
  }
  await pipeline.exec();
  const asked = asksPermission ? [PERMISSION] : [];
  return async (secret) => ({
    valid: (await client.evalsha(sha1, 1, nameOf(secret), String(Date.now()), ...asked)) === 1,
  });
}
