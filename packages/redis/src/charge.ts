import {
  type ChargePlan,
  type ChargeResult,
  corruptRecord,
  type LimitReading,
  type SettledCharge,
} from "@latchkey/core";
import type { Connection } from "./connection.js";
import {
  adHocWindowName,
  identityCountersName,
  type KeyNames,
  recordName,
  requestName,
  windowField,
} from "./key-names.js";
import type { KeyQueries } from "./key-queries.js";
import { asReply, type Reply, unexpected } from "./replies.js";
import { SCRIPTS } from "./scripts.js";
import { json, list, readStored, safe, text, whole } from "./values.js";

type CountedLimit = Pick<ChargePlan["limits"][number], "name" | "limit" | "durationMs" | "cost">;

const STALE: ChargeResult = Object.freeze({ kind: "stale" });
const CONFLICT: ChargeResult = Object.freeze({ kind: "conflict" });

const KINDS: ReadonlyMap<unknown, SettledCharge["kind"]> = new Map([
  ["CHARGED", "charged"],
  ["RATE_LIMITED", "rate-limited"],
  ["USAGE_EXCEEDED", "usage-exceeded"],
]);

/** The atomic step of a verification: puts a plan into the words of charge.lua, and its answer into those of core. */
export class Charging {
  readonly #connection: Connection;
  readonly #names: KeyNames;
  readonly #queries: KeyQueries;

  constructor(connection: Connection, names: KeyNames, queries: KeyQueries) {
    this.#connection = connection;
    this.#names = names;
    this.#queries = queries;
  }

  async charge(plan: ChargePlan): Promise<ChargeResult> {
    const { workspaceId, keyId, handle } = plan;
    const hash =
      typeof handle === "string" ? handle : await this.#queries.hashOf(workspaceId, keyId);
    if (hash === null) return STALE;
    const keys = this.#keysOf(plan, hash);
    const reply = asReply(
      await this.#connection.verify(SCRIPTS.charge, keys, chargeArguments(plan)),
    );
    switch (reply[0]) {
      case "STALE":
        return STALE;
      case "CONFLICT":
        return CONFLICT;
      case "CORRUPT":
        throw corruptRecord(/^key_[A-Za-z0-9]{1,64}$/.test(keyId) ? `key ${keyId}` : "key");
      case "REPEAT":
        return readStored("request", null, () => recall(reply[1]));
      default:
        return settled(reply, plan.limits);
    }
  }

  /** In the order in which charge.lua takes them. */
  #keysOf(plan: ChargePlan, hash: string): readonly string[] {
    const names = this.#names.of(plan.workspaceId);
    const keys = [recordName(names, hash), names.workspace];
    if (plan.identityId !== null) keys.push(identityCountersName(names, plan.identityId));
    if (plan.request !== undefined) keys.push(requestName(names, plan.keyId, plan.request.id));
    for (const limit of plan.limits) {
      if (!limit.isConfigured) keys.push(adHocWindowName(names, plan.keyId, limit));
    }
    return keys;
  }
}

function chargeArguments(plan: ChargePlan): readonly string[] {
  const { expects, refill, request } = plan;
  const args = [
    plan.keyId,
    digits(expects.keyVersion),
    plan.identityId ?? "",
    expects.identityVersion === null ? "" : digits(expects.identityVersion),
    digits(expects.epoch),
    digits(plan.now),
    plan.mode,
    digits(plan.cost),
    refill === null ? "" : digits(refill.amount),
    refill === null ? "" : digits(refill.dueAt),
    request === undefined ? "" : request.fingerprint,
    request === undefined ? "" : digits(request.rememberUntil),
    request === undefined ? "" : JSON.stringify(plan.limits.map(countedLimit)),
  ];
  for (const limit of plan.limits) {
    args.push(
      limit.isConfigured ? (limit.owner === "key" ? "k" : "i") : "a",
      limit.isConfigured ? windowField(limit) : "",
      digits(limit.limit),
      digits(limit.durationMs),
      digits(limit.cost),
    );
  }
  return args;
}

function settled(reply: Reply, limits: readonly CountedLimit[]): SettledCharge {
  const kind = KINDS.get(reply[0]);
  if (kind === undefined) throw unexpected(reply[0]);
  const readings: LimitReading[] = [];
  for (let number = 0; number < limits.length; number += 1) {
    const { name, limit, durationMs, cost } = limits[number] as CountedLimit;
    const used = whole(reply[3 + 2 * number]);
    readings.push({
      name,
      limit,
      remaining: Math.max(0, limit - used),
      resetAt: whole(reply[2 + 2 * number]) + durationMs,
      exceeded: kind === "rate-limited" && used + cost > limit,
    });
  }
  return { kind, remaining: reply[1] === "" ? null : whole(reply[1]), limits: readings };
}

/** Reads a result as it was remembered: the answer of charge.lua, and below it what the limits were. */
function recall(remembered: unknown): SettledCharge {
  const [reply = "", limits] = text(remembered).split("\n");
  return settled(
    reply.split(" "),
    list(json(limits), (limit) => {
      const [name, most, durationMs, cost] = list(limit, (part) => part);
      return {
        name: text(name),
        limit: safe(most, 0),
        durationMs: safe(durationMs, 1),
        cost: safe(cost, 0),
      };
    }),
  );
}

function countedLimit({ name, limit, durationMs, cost }: CountedLimit): readonly unknown[] {
  return [name, limit, durationMs, cost];
}

/** Decimal digits. Anything but a whole number >= 0 would mean something else to Lua. */
function digits(value: number): string {
  if (Number.isSafeInteger(value) && value >= 0) return String(value);
  throw new TypeError("numbers of a charge must be whole numbers >= 0");
}
