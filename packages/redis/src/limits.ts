import type { IdentityRateLimit, KeyRateLimit, RateLimit, Refill } from "@latchkey/core";
import { damaged, json, list, nullable, safe, text } from "./values.js";

/** Limits of an identity, as short as they can be. */
export function encodeIdentityLimits(limits: readonly IdentityRateLimit[]): string {
  return JSON.stringify(
    limits.map(({ name, limit, durationMs, autoApply }) => [name, limit, durationMs, autoApply]),
  );
}

/** The opposite of {@link encodeIdentityLimits}. */
export function identityLimits(stored: unknown): readonly IdentityRateLimit[] {
  return list(json(stored), (value) => {
    const parts = list(value, (part) => part);
    if (parts.length !== 4) return damaged();
    return { ...rateLimit(parts), autoApply: truth(parts[3]) };
  });
}

/** Limits of a key, as short as they can be. */
export function encodeKeyLimits(limits: readonly KeyRateLimit[]): string {
  return JSON.stringify(
    limits.map(({ name, limit, durationMs, type, async: isAsync, autoApply }) => [
      name,
      limit,
      durationMs,
      type,
      isAsync,
      autoApply,
    ]),
  );
}

/** The opposite of {@link encodeKeyLimits}. */
export function keyLimits(stored: unknown): readonly KeyRateLimit[] {
  return list(json(stored), (value) => {
    const parts = list(value, (part) => part);
    if (parts.length !== 6) return damaged();
    const type = nullable(parts[3], text);
    if (type !== null && type !== "fast" && type !== "consistent") return damaged();
    return { ...rateLimit(parts), type, async: truth(parts[4]), autoApply: truth(parts[5]) };
  });
}

/** A refill, as short as it can be. */
export function encodeRefill(refill: Refill): string {
  const { interval, amount } = refill;
  return JSON.stringify(
    interval === "monthly" ? [interval, amount, refill.refillDay] : [interval, amount],
  );
}

/** The opposite of {@link encodeRefill}. */
export function refillOf(stored: unknown): Refill {
  const [interval, amount, day, ...more] = list(json(stored), (part) => part);
  if (more.length > 0) return damaged();
  if (interval === "daily" && day === undefined) return { interval, amount: safe(amount, 1) };
  if (interval !== "monthly" || safe(day, 1) > 31) return damaged();
  return { interval, amount: safe(amount, 1), refillDay: safe(day, 1) };
}

function rateLimit([name, limit, durationMs]: readonly unknown[]): RateLimit {
  return { name: text(name), limit: safe(limit, 1), durationMs: safe(durationMs, 1) };
}

function truth(value: unknown): boolean {
  return typeof value === "boolean" ? value : damaged();
}
