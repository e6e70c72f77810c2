import assert from "node:assert/strict";
import { type ChargePlan, type KeyStore, LAST_INSTANT, type LimitCharge } from "@latchkey/core";
import fc from "fast-check";
import { it, type StoreContract } from "../../fixtures/context.js";
import { aHeldLimit, aReservation, HELD, leaseId, room, settleAs } from "../../fixtures/holds.js";
import { aPlan, charge, chargeAs } from "../../fixtures/plans.js";
import { everyRun, runsOf } from "../../fixtures/random.js";
import { KEY, NOW, putWithUses } from "../../fixtures/records.js";

const SECOND = 1_000;
/** One unit in ten seconds. */
const BUCKET = aHeldLimit({ algorithm: "token-bucket", limit: 6, burst: 20 });

/** A plan that takes units of the bucket ahead, as a lease. */
function aLease(units: number, bucket = BUCKET): ChargePlan {
  const limits = [{ ...bucket, cost: units, held: units }];
  return aReservation({ cost: 0, limits, hold: { ...HELD, ttl: LAST_INSTANT } });
}

function taking(units: number, bucket = BUCKET): ChargePlan {
  return aPlan({ cost: 0, limits: [{ ...bucket, cost: units }] });
}

/** An end of a lease. `used`: null if unknown, which counts as all of it. */
function endOf(number: number, used: number | null, { name } = BUCKET) {
  const limits = used === null ? [] : [{ name, cost: used }];
  return { kind: "end", id: leaseId(number), uses: 0, limits, rest: true } as const;
}

/** What happens to a bucket, each step this many ms after the one before. */
const steps = fc.array(
  fc.record({
    move: fc.oneof(
      fc.nat({ max: 4_000 }),
      fc.nat({ max: 90_000 }),
      fc.integer({ min: -500, max: 0 }),
    ),
    what: fc.constantFrom(
      "take",
      "take",
      "lease",
      "lease",
      "use",
      "use",
      "use",
      "end",
      "end",
      "die",
    ),
    units: fc.integer({ min: 1, max: 7 }),
  }),
  { minLength: 20, maxLength: 40 },
);

/** The bucket of the store beside an ideal one, which holds what has flowed in since it was full, less what was used. */
class LeasedBucket {
  readonly #store: KeyStore;
  readonly #bucket: LimitCharge;
  readonly #full = BUCKET.burst * BUCKET.duration;
  #ideal = this.#full;
  /** Leases that have not ended, with the units used of each. */
  readonly #open = new Map<number, { readonly units: number; used: number }>();
  #held = 0;
  #mostHeld = 0;
  #at = 0;
  now = NOW;

  constructor(store: KeyStore, name: string) {
    this.#store = store;
    this.#bucket = aHeldLimit({ ...BUCKET, name, window: `t${BUCKET.duration}:${name}` });
  }

  async take(units: number): Promise<void> {
    const { kind } = await charge(this.#store, taking(units, this.#bucket), { now: this.now });
    if (kind !== "charged") return;
    this.#pass();
    this.#admit(units);
  }

  async lease(number: number, units: number): Promise<void> {
    const moment = { now: this.now, holdId: leaseId(number) };
    if ((await charge(this.#store, aLease(units, this.#bucket), moment)).kind !== "charged") return;
    this.#pass();
    this.#open.set(number, { units, used: 0 });
    this.#held += units;
    this.#mostHeld = Math.max(this.#mostHeld, this.#held);
  }

  /** Uses a unit of a lease: the store does not know of it, and its time stands still. */
  use(): void {
    const lease = [...this.#open.values()].find(({ units, used }) => used < units);
    if (lease === undefined) return;
    lease.used += 1;
    this.#admit(1);
  }

  /** `isDead`: the process has died, and nobody says how much was used. */
  async end(isDead: boolean): Promise<void> {
    const [first] = this.#open;
    if (first === undefined) return;
    const [number, { units, used }] = first;
    const step = endOf(number, isDead ? null : used, this.#bucket);
    await settleAs("ended", this.#store, step, this.now);
    this.#pass();
    // Unused units that nobody gives back are lost.
    if (isDead) this.#ideal -= (units - used) * BUCKET.duration;
    this.#open.delete(number);
    this.#held -= units;
  }

  #pass(): void {
    const passed = Math.max(0, this.now - this.#at);
    this.#ideal = Math.min(this.#full, this.#ideal + passed * BUCKET.limit);
    this.#at += passed;
  }

  #admit(units: number): void {
    this.#ideal -= units * BUCKET.duration;
    assert.ok(this.#ideal >= 0, "E1: more is admitted than has flowed in");
  }

  /**
   * E1: the store holds no more than the ideal bucket. E3: it holds less by no more than was ever held at once, and is full once it is
   * quiet.
   */
  async check(): Promise<void> {
    const left = (await room(this.#store, this.#bucket, this.now)) ?? -1;
    const passed = Math.max(0, this.now - this.#at);
    const ideal = Math.min(this.#full, this.#ideal + passed * BUCKET.limit);
    assert.ok(left * BUCKET.duration <= ideal, `E1: ${left} left, ${ideal} is ideal`);
    const unused = [...this.#open.values()].reduce((sum, { units, used }) => sum + units - used, 0);
    const least = Math.floor(ideal / BUCKET.duration) - unused - this.#mostHeld;
    assert.ok(left >= least, `E3: ${left} left, and not ${least}`);
    const quiet = await room(this.#store, this.#bucket, this.now + this.#full);
    assert.equal(quiet, BUCKET.burst - this.#held);
  }
}

export const bucketLeaseContracts: readonly StoreContract[] = [
  it("a bucket fills to its burst less what leases hold of it", async (store, other) => {
    await putWithUses(store, KEY);
    await chargeAs("charged", store, aLease(8), { holdId: leaseId(1) });
    const roomAt = (seconds: number) => room(other, BUCKET, NOW + seconds * SECOND);
    assert.deepEqual([await roomAt(0), await roomAt(100)], [12, 12]);
    await chargeAs("charged", other, taking(12), { now: NOW + 100 * SECOND });
    assert.deepEqual([await roomAt(100), await roomAt(150), await roomAt(900)], [0, 5, 12]);
    await chargeAs("charged", store, aLease(3), {
      now: NOW + 150 * SECOND,
      holdId: leaseId(2),
    });
    assert.deepEqual([await roomAt(150), await roomAt(900)], [2, 9]);
    // Five come back, and three count from now on.
    await settleAs("ended", other, endOf(1, 3), NOW + 150 * SECOND);
    assert.deepEqual([await roomAt(150), await roomAt(180), await roomAt(900)], [7, 10, 17]);
  }),
  it("used units of a lease count from its end on, even if nobody says how many they were", async (store, other) => {
    await putWithUses(store, KEY);
    for (const [number, used] of [8, null].entries()) {
      const now = NOW + number * 1_000 * SECOND;
      await chargeAs("charged", store, aLease(8), { now, holdId: leaseId(number) });
      await settleAs("ended", other, endOf(number, used), now + 300 * SECOND);
      await settleAs("ended", store, endOf(number, used), now + 310 * SECOND);
      const roomAt = (seconds: number) => room(other, BUCKET, now + seconds * SECOND);
      assert.deepEqual([await roomAt(300), await roomAt(310), await roomAt(380)], [12, 13, 20]);
    }
  }),
  it("a charge that ends a lease of a bucket gives back to it first", async (store, other) => {
    await putWithUses(store, KEY);
    await chargeAs("charged", store, aLease(20), { holdId: leaseId(1) });
    const moment = { now: NOW + SECOND, holdId: leaseId(2) };
    await chargeAs("rate-limited", other, aLease(15), moment);
    await chargeAs("charged", other, aLease(15), { ...moment, ends: endOf(1, 5) });
    assert.equal(await room(store, BUCKET, NOW + 900 * SECOND), 5);
    await settleAs("over", store, endOf(2, 16), NOW);
  }),
  it("a reservation beside a lease gives back no more than the bucket may hold", async (store, other) => {
    await putWithUses(store, KEY);
    await chargeAs("charged", store, aLease(8), { holdId: leaseId(1) });
    const limits = [{ ...BUCKET, cost: 6 }];
    await chargeAs("charged", store, aReservation({ cost: 0, limits }), { holdId: "rsv_1" });
    const now = NOW + 10 * SECOND;
    const release = { kind: "end", id: "rsv_1", uses: 0, limits: [], rest: false } as const;
    await settleAs("ended", other, release, now);
    assert.equal(await room(other, BUCKET, now), 12);
    assert.equal(await room(other, BUCKET, NOW + 900 * SECOND), 12);
  }),
  it("E1, E3: whatever is leased, used and ended, a bucket admits what has flowed in, and loses nothing", async (store, other, context) => {
    await putWithUses(store, KEY);
    await everyRun(steps, runsOf(8, context.share), async (made, run) => {
      const bucket = new LeasedBucket(run % 2 === 0 ? store : other, `run-${run}`);
      for (const [number, { move, what, units }] of made.entries()) {
        bucket.now += move;
        if (what === "take") await bucket.take(units);
        else if (what === "lease") await bucket.lease(100 * run + number, units);
        else if (what === "use") bucket.use();
        else await bucket.end(what === "die");
        await bucket.check();
      }
    });
  }),
];
