import type { IdentityRateLimit, KeyRateLimit, RateLimit } from "@latchkey/core";
import { damaged, json, list, object, text, truth, whole } from "./values.js";

/** Writes the column `ratelimits` of an identity. */
export function encodeIdentityLimits(limits: readonly IdentityRateLimit[]): string {
  return JSON.stringify(
    limits.map(({ name, limit, durationMs, autoApply }) => ({
      name,
      limit,
      durationMs,
      autoApply,
    })),
  );
}

/** The opposite of {@link encodeIdentityLimits}. */
export function decodeIdentityLimits(value: unknown): readonly IdentityRateLimit[] {
  return list(json(value), identityLimit);
}

/** Writes the column `ratelimits` of a key. */
export function encodeKeyLimits(limits: readonly KeyRateLimit[]): string {
  return JSON.stringify(
    limits.map(({ name, limit, durationMs, type, async, autoApply }) => ({
      name,
      limit,
      durationMs,
      type,
      async,
      autoApply,
    })),
  );
}

/** The opposite of {@link encodeKeyLimits}. */
export function decodeKeyLimits(value: unknown): readonly KeyRateLimit[] {
  return list(json(value), keyLimit);
}

function rateLimit({ name, limit, durationMs }: Readonly<Record<string, unknown>>): RateLimit {
  return { name: text(name), limit: whole(limit, 1), durationMs: whole(durationMs, 1) };
}

function identityLimit(value: unknown): IdentityRateLimit {
  const { autoApply, ...stored } = object(value);
  return { ...rateLimit(stored), autoApply: truth(autoApply) };
}

function keyLimit(value: unknown): KeyRateLimit {
  const { type, async: isAsync, autoApply, ...stored } = object(value);
  if (type !== null && type !== "fast" && type !== "consistent") return damaged();
  return { ...rateLimit(stored), type, async: truth(isAsync), autoApply: truth(autoApply) };
}
