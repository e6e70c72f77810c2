import {
  type AppliedCharge,
  type ChargeMoment,
  type ChargePlan,
  type ChargeResult,
  corruptRecord,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { refusedWith } from "./engine/errors.js";
import type { Names } from "./engine/names.js";
import { SCRIPTS } from "./engine/scripts.js";
import { parseBody, whole } from "./engine/stored-values.js";
import { type KnownLimit, PreparedCharge } from "./prepared-charge.js";

/** Most charges that one script carries out: nobody waits longer than a millisecond behind it. */
const MOST_AT_ONCE = 32;

const KINDS: ReadonlySet<unknown> = new Set(["charged", "rate-limited", "usage-exceeded"]);

/** A charge that waits for the end of its turn of the event loop. */
interface Waiting {
  readonly plan: ChargePlan;
  readonly keys: string[];
  readonly args: string[];
  readonly resolve: (result: ChargeResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The atomic steps of verifications, one round trip each. Those of one workspace that begin in one turn of the event loop share
 * it; each is decided on its own, in this order.
 */
export class Charges {
  readonly #connection: Connection;
  readonly #named: (workspaceId: string) => Names;
  #waiting = new Map<string, Waiting[]>();

  constructor(connection: Connection, named: (workspaceId: string) => Names) {
    this.#connection = connection;
    this.#named = named;
  }

  charge(plan: ChargePlan, moment: ChargeMoment): Promise<ChargeResult> {
    const { memo, workspaceId } = plan;
    // A copy of a plan brings the memo of the plan that it was copied from, and a plan may meet another store.
    const isOwn = memo instanceof PreparedCharge && memo.plan === plan && memo.maker === this;
    const prepared = isOwn ? memo : new PreparedCharge(this, this.#named(workspaceId), plan);
    plan.memo = prepared;
    return new Promise((resolve, reject) => {
      const { keys, args } = prepared.at(moment);
      if (this.#waiting.size === 0) process.nextTick(() => this.send());
      const own: Waiting = { plan, keys, args, resolve, reject };
      const others = this.#waiting.get(workspaceId);
      if (others === undefined) this.#waiting.set(workspaceId, [own]);
      else others.push(own);
    });
  }

  /** Sends what waits, without waiting for the end of the turn. */
  send(): void {
    const waiting = this.#waiting;
    this.#waiting = new Map();
    for (const charges of waiting.values())
      while (charges.length > 0) this.#run(charges.splice(0, MOST_AT_ONCE));
  }

  /** Plain loops: this is most of what latchkey itself does for a verification. */
  #run(charges: readonly Waiting[]): void {
    const [first, ...others] = charges as readonly [Waiting, ...Waiting[]];
    const keys = others.length === 0 ? first.keys : first.keys.slice();
    const { args } = first;
    for (const other of others) {
      // All begin with the workspace.
      keys.push(...other.keys.slice(1));
      args.push(...other.args);
    }
    const read = (answer: unknown) => {
      const answers = String(answer).split("\0");
      for (const [index, charge] of charges.entries()) settle(charge, answers[index]);
    };
    const refuse = (error: unknown) => {
      for (const { reject } of charges) reject(error);
    };
    this.#connection.run(SCRIPTS.charge, keys, args).then(read, refuse);
  }
}

function settle({ plan, resolve, reject }: Waiting, answer: string | undefined): void {
  try {
    resolve(readAnswer(answer, plan));
  } catch (error) {
    reject(error);
  }
}

function readAnswer(text = "", plan: ChargePlan): ChargeResult {
  const words = text.split(" ");
  switch (words[0]) {
    case "STALE":
      return { kind: "stale", moved: words[1] === "0" ? "revision" : Number(words[1]) - 1 };
    case "CONFLICT":
      return { kind: "conflict" };
    case "CORRUPT":
      throw corruptRecord("counters");
    case "ERROR":
      throw refusedWith(words[1]);
    case "REPEAT":
      return readRemembered(text.slice("REPEAT ".length));
    default:
      return readApplied(words, plan.limits);
  }
}

function readApplied(words: readonly string[], limits: readonly KnownLimit[]): AppliedCharge {
  const [kind, left] = words;
  if (!KINDS.has(kind)) throw refusedWith();
  const readings = limits.map(({ name, limit, duration, cost }, index) => {
    const [startedAt, units] = (words[index + 2] ?? "").split(":");
    const used = whole(units, "window");
    return {
      name,
      limit,
      remaining: Math.max(0, limit - used),
      resetAt: whole(startedAt, "window") + duration,
      exceeded: kind === "rate-limited" && used + cost > limit,
    };
  });
  const remaining = left === "-" ? null : whole(left, "counters");
  return { kind: kind as AppliedCharge["kind"], remaining, limits: readings };
}

/** A result as it was remembered: the answer of charge.lua, and below it what the limits were. */
function readRemembered(remembered: string): AppliedCharge {
  const [answer = "", limits = ""] = remembered.split("\n");
  const known = parseBody(limits);
  if (!Array.isArray(known)) throw corruptRecord("request");
  const about = (known as [string, number, number, number][]).map(
    ([name, limit, duration, cost]): KnownLimit => ({ name, limit, duration, cost }),
  );
  return readApplied(answer.split(" "), about);
}
