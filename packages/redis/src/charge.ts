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
  identityWindowField,
  type KeyNames,
  keyWindowField,
  recordName,
  requestName,
  sharedCountersName,
} from "./key-names.js";
import type { KeyQueries } from "./key-queries.js";
import { unexpected } from "./replies.js";
import { SCRIPTS } from "./scripts.js";
import { digits, json, list, readStored, safe, text, whole } from "./values.js";

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

  charge(plan: ChargePlan): Promise<ChargeResult> {
    const { workspaceId, keyId, handle } = plan;
    if (typeof handle === "string") return this.#chargeAt(handle, plan);
    return this.#queries
      .placeOf(workspaceId, keyId)
      .then((place) => (place === null ? STALE : this.#chargeAt(place.hash, plan)));
  }

  #chargeAt(hash: string, plan: ChargePlan): Promise<ChargeResult> {
    // Without an identity there is none at any version.
    if (plan.identityId === null && plan.expects.identityVersion !== null) {
      return Promise.resolve(STALE);
    }
    const params = this.#keysOf(plan, hash);
    const keyCount = params.length;
    addArguments(params, plan);
    return this.#connection.verify(SCRIPTS.charge, keyCount, params, (answer) =>
      readAnswer(answer, plan),
    );
  }

  /** In the order in which charge.lua takes them. */
  #keysOf(plan: ChargePlan, hash: string): string[] {
    const names = this.#names.of(plan.workspaceId);
    const keys = [recordName(names, hash), names.workspace];
    if (plan.identityId !== null) keys.push(identityCountersName(names, plan.identityId));
    if (plan.countersId !== null && takesFromKey(plan)) {
      keys.push(sharedCountersName(names, plan.countersId));
    }
    if (drawsElsewhere(plan)) keys.push(names.uses);
    if (plan.request !== undefined) keys.push(requestName(names, plan.keyId, plan.request.id));
    for (const limit of plan.limits) {
      if (!limit.isConfigured) {
        keys.push(adHocWindowName(names, plan.countersId ?? plan.keyId, limit));
      }
    }
    return keys;
  }
}

/** In the order in which charge.lua takes them. */
function addArguments(params: string[], plan: ChargePlan): void {
  const { expects, identityId, refill, request } = plan;
  const parts = `${plan.mode === "look" ? "l" : ""}${identityId === null ? "" : "i"}${
    drawsElsewhere(plan) ? sharedParts(plan) : ""
  }${refill === null ? "" : "r"}${request === undefined ? "" : "q"}`;
  params.push(
    `${plan.keyId} ${digits(expects.keyVersion)}`,
    digits(expects.epoch),
    digits(plan.now),
    digits(plan.cost),
    parts,
  );
  if (identityId !== null) {
    params.push(expects.identityVersion === null ? "" : digits(expects.identityVersion));
  }
  if (drawsElsewhere(plan)) {
    params.push((plan.usesFrom === "identity" ? identityId : plan.countersId) ?? "");
  }
  if (refill !== null) params.push(digits(refill.amount), digits(refill.dueAt));
  if (request !== undefined) {
    const about = JSON.stringify(plan.limits.map(countedLimit));
    params.push(request.fingerprint, digits(request.rememberUntil), about);
  }
  for (const limit of plan.limits) {
    params.push(
      windowFieldOf(limit),
      digits(limit.limit),
      digits(limit.durationMs),
      digits(limit.cost),
    );
  }
}

/** Whether the uses lie elsewhere than in the record of the key. */
function drawsElsewhere({ usesFrom, countersId }: ChargePlan): boolean {
  return usesFrom === "identity" || countersId !== null;
}

function takesFromKey({ limits }: ChargePlan): boolean {
  return limits.some(({ owner, isConfigured }) => isConfigured && owner === "key");
}

/** Which of the counters are not those of the key alone. */
function sharedParts(plan: ChargePlan): string {
  const windows = plan.countersId !== null && takesFromKey(plan) ? "c" : "";
  return `${windows}${plan.usesFrom === "identity" ? "u" : "s"}`;
}

function windowFieldOf(limit: ChargePlan["limits"][number]): string {
  if (!limit.isConfigured) return "a";
  return limit.owner === "key" ? keyWindowField(limit) : identityWindowField(limit);
}

function readAnswer(answer: unknown, { keyId, limits }: ChargePlan): ChargeResult {
  const words = text(answer).split(" ");
  switch (words[0]) {
    case "STALE":
      return STALE;
    case "CONFLICT":
      return CONFLICT;
    case "CORRUPT":
      throw corruptRecord(/^key_[A-Za-z0-9]{1,64}$/.test(keyId) ? `key ${keyId}` : "key");
    case "REPEAT":
      return readStored("request", null, () => recall(text(answer).slice("REPEAT ".length)));
    default:
      return settled(words, limits);
  }
}

function settled(words: readonly string[], limits: readonly CountedLimit[]): SettledCharge {
  const kind = KINDS.get(words[0]);
  if (kind === undefined) throw unexpected(words[0]);
  const readings: LimitReading[] = [];
  for (let number = 0; number < limits.length; number += 1) {
    const { name, limit, durationMs, cost } = limits[number] as CountedLimit;
    const window = words[number + 2] ?? "";
    const colon = window.indexOf(":");
    const used = whole(window.slice(colon + 1));
    readings.push({
      name,
      limit,
      remaining: Math.max(0, limit - used),
      resetAt: whole(window.slice(0, colon)) + durationMs,
      exceeded: kind === "rate-limited" && used + cost > limit,
    });
  }
  return { kind, remaining: words[1] === "" ? null : whole(words[1]), limits: readings };
}

/** Reads a result as it was remembered: the answer of charge.lua, and below it what the limits were. */
function recall(remembered: string): SettledCharge {
  const [answer = "", limits] = remembered.split("\n");
  return settled(
    answer.split(" "),
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
