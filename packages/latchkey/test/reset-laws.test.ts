import type { Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf, seedsOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { issue, type TestContext, workspacesOf } from "./test-context.js";

const ALGORITHMS = ["fixed", "sliding", "token-bucket"] as const;

const limitsNamed = (prefix: string, limit: number, duration: number) =>
  ALGORITHMS.map((algorithm) => ({
    name: `${prefix} ${algorithm}`,
    algorithm,
    limit,
    duration,
  }));

/** Limits of a key, of its identity, and of requests alone. */
const OF_KEY = limitsNamed("key", 5, 10_000);
const OF_IDENTITY = limitsNamed("identity", 7, 20_000);
const AD_HOC = limitsNamed("ad hoc", 6, 30_000);
const ALL = [...OF_KEY, ...OF_IDENTITY, ...AD_HOC];
const FULL = Object.fromEntries(ALL.map(({ name, limit }) => [name, limit]));

const applied = (limits: typeof OF_KEY) => limits.map((limit) => ({ ...limit, autoApply: true }));

/** Charges, reservations, rotations and resets in random order. */
class Schedule {
  readonly #latchkey: Latchkey;
  readonly #keys: { readonly key: string; readonly keyId: string }[] = [];
  readonly #open: string[] = [];
  #identityId = "";

  constructor(
    readonly context: TestContext,
    readonly chance: Chance,
  ) {
    this.#latchkey = context.latchkey;
  }

  async begin(): Promise<void> {
    const owner = { externalId: "pier-7", ratelimits: applied(OF_IDENTITY) };
    this.#identityId = (await this.#latchkey.createIdentity(owner)).identityId;
    const own = { externalId: "pier-7", ratelimits: applied(OF_KEY) };
    this.#keys.push(await issue(this.context, own));
  }

  get #key() {
    return this.#keys.at(-1) as { readonly key: string; readonly keyId: string };
  }

  /** What could be taken from each limit. */
  async #remaining(): Promise<Readonly<Record<string, number>>> {
    const ratelimits = this.#asked(ALL, () => 0);
    const { key } = this.#key;
    const verdict = await this.#latchkey.verifyKey({ key, ratelimits });
    const { ratelimits: states = [] } = verdict as Extract<typeof verdict, { valid: true }>;
    return Object.fromEntries(states.map(({ name, remaining }) => [name, remaining]));
  }

  #asked(limits: typeof ALL, costOf: () => number) {
    return limits.map((limit) =>
      AD_HOC.includes(limit) ? { ...limit, cost: costOf() } : { name: limit.name, cost: costOf() },
    );
  }

  async #reset({ name, duration }: (typeof ALL)[number]): Promise<void> {
    const { keyId } = this.chance.pick(this.#keys);
    const identityId = this.#identityId;
    if (name.startsWith("key")) await this.#latchkey.resetLimit({ keyId, name });
    else if (name.startsWith("identity")) await this.#latchkey.resetLimit({ identityId, name });
    else await this.#latchkey.resetLimit({ keyId, name, duration });
  }

  /** Makes a step. Returns nothing, or what a reset should and did leave of all limits. */
  async step(): Promise<readonly [expected: object, found: object] | null> {
    const { pick, below } = this.chance;
    this.context.advance(pick([0, 1, below(3_000), below(40_000)]));
    const { key, keyId } = this.#key;
    const some = ALL.filter(() => below(3) === 0);
    const ratelimits = this.#asked(some, () => below(4));
    const kind = below(7);
    if (kind < 2) await this.#latchkey.verifyKey({ key, ratelimits });
    else if (kind === 2) {
      const held = await this.#latchkey.reserve({ key, ratelimits, ttl: "1h" });
      if (held.code === "VALID") this.#open.push(held.reservationId);
    } else if (kind === 3) {
      const [reservationId] = this.#open.splice(below(this.#open.length + 1), 1);
      if (reservationId !== undefined)
        await (below(2) === 0
          ? this.#latchkey.release({ reservationId })
          : this.#latchkey.settle({ reservationId }));
    } else if (kind === 4 && below(3) === 0)
      this.#keys.push(await this.#latchkey.rotateKey({ keyId, graceMs: "1d" }));
    else {
      const limit = pick(ALL);
      const before = await this.#remaining();
      await this.#reset(limit);
      const after = await this.#remaining();
      // What is reserved may still be taken.
      const left = this.#open.length > 0 ? after[limit.name] : limit.limit;
      return [{ ...before, [limit.name]: left }, after];
    }
    return null;
  }

  /** What is left of all limits once everything was reset and nothing is reserved any more. */
  async end(): Promise<object> {
    for (const reservationId of this.#open) await this.#latchkey.release({ reservationId });
    for (const limit of ALL) await this.#reset(limit);
    return this.#remaining();
  }
}

describeOnEveryStore("resetLimit", (open, runs) => {
  test("empties one limit and no other, whatever its algorithm and whichever key of a rotation is named", async () => {
    const nextWorkspace = workspacesOf(open());
    for (const seed of seedsOf(runs(60))) {
      const schedule = new Schedule(nextWorkspace(), chanceOf(seed));
      await schedule.begin();
      for (let step = 0; step < 25; step += 1) {
        const [expected, found] = (await schedule.step()) ?? [];
        expect(found, `seed ${seed}, step ${step}`).toEqual(expected);
      }
      expect(await schedule.end(), `seed ${seed}`).toEqual(FULL);
    }
  });
});
