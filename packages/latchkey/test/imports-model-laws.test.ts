import {
  type InputOf,
  type Latchkey,
  type LatchkeyError,
  type PartlyCreatedKeys,
  unavailable,
} from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { base64, base64url, foreign, hex } from "./imports.js";
import { DAY_MS, rejectionOf, type TestContext, VAULT_KEYS, workspacesOf } from "./test-context.js";
import { wrapped } from "./wrapped-store.js";

type ImportKeyInput = InputOf<"createKeys">[number];

const SEED = Number(process.env.LATCHKEY_LAW_SEED ?? 20261129);
const STEPS = 12;
const MOST_KEYS = 3;
const VAULT = { vault: { current: "v", keys: { v: VAULT_KEYS[0] } } };

const OPTIONAL: readonly string[] = [
  ...(["name", "environment", "ownerId", "externalId", "meta", "tags", "ipWhitelist"] as const),
  ...(["roles", "permissions", "expires", "startsAt", "expiresWhenUnused", "remaining"] as const),
  ...(["refill", "ratelimit", "ratelimits", "usesFrom", "enabled", "recoverable"] as const),
  ...(["createdAt", "hash", "plaintext", "start", "prefix"] as const),
];

/** What a key is refused for, without what only the place in the list decides. */
const refusal = ({ code, reason, details, issues }: LatchkeyError) => [
  code,
  reason,
  details,
  issues,
];
const shown = ({ results }: PartlyCreatedKeys) =>
  results.map(({ error }) => (error === undefined ? "written" : refusal(error)));

interface ForeignKey {
  readonly secret: number;
  readonly input: ImportKeyInput;
  /** Whether it is refused whatever else there is. */
  readonly isBad: boolean;
}

/** Secrets and places of owners, as they must be. */
class Model {
  readonly keyIds = new Map<number, string>();
  readonly owners = new Map<string, number>();

  copy(): Model {
    const copy = new Model();
    for (const [secret, keyId] of this.keyIds) copy.keyIds.set(secret, keyId);
    for (const [owner, count] of this.owners) copy.owners.set(owner, count);
    return copy;
  }

  /** Takes a key, unless it is refused. */
  takes({ secret, input, isBad }: ForeignKey, limited: string): boolean {
    if (isBad || this.keyIds.has(secret)) return false;
    const { externalId, apiId } = input;
    if (externalId !== undefined && apiId === limited) {
      const count = this.owners.get(externalId) ?? 0;
      if (count === MOST_KEYS) return false;
      this.owners.set(externalId, count + 1);
    }
    this.keyIds.set(secret, "");
    return true;
  }
}

class Schedule {
  readonly model = new Model();
  #limited = "";
  #free = "";
  #calls = 0;

  constructor(
    readonly context: TestContext,
    readonly chance: Chance,
  ) {}

  async run(): Promise<void> {
    const { latchkey } = this.context;
    await latchkey.ensurePermissions(["tides.read"]);
    await latchkey.createRole({ name: "pilot" });
    const ceilings = { maxKeysPerIdentity: MOST_KEYS, maxRemaining: 50 };
    const defaults = { remaining: 7, permissions: ["tides.read"], expiresIn: DAY_MS };
    this.#limited = (await latchkey.createApi({ name: "tides", ceilings, defaults })).apiId;
    this.#free = (await latchkey.createApi({ name: "gates" })).apiId;
    for (let step = 0; step < STEPS; step += 1) await this.#step();
    let total = 0;
    for (const apiId of [this.#limited, this.#free])
      total += (await latchkey.listKeys({ apiId })).total;
    expect(total).toBe(this.model.keyIds.size);
    for (const [secret, keyId] of this.model.keyIds) {
      const { valid, ...verdict } = await this.context.another().verifyKey({
        key: foreign(secret),
      });
      expect(valid ? "keyId" in verdict && verdict.keyId : null).toBe(keyId);
    }
  }

  #oneIn(many: number): boolean {
    return this.chance.below(many) === 0;
  }

  #key(): ForeignKey {
    const { chance } = this;
    const secret = chance.below(25);
    const apiId = chance.pick([this.#limited, this.#limited, this.#free]);
    const text = foreign(secret);
    const form = chance.below(4);
    const given: Record<string, unknown> = {
      apiId,
      ...(form === 3 ? { plaintext: text } : { hash: [hex, base64, base64url][form]?.(text) }),
      ...(this.#oneIn(2) && { externalId: chance.pick(["pier-7", "pier-9"]) }),
      ...(this.#oneIn(3) && { tags: ["quay", "eu"] }),
      ...(this.#oneIn(3) && { roles: ["pilot"] }),
      ...(this.#oneIn(3) && { remaining: 9 }),
      ...(this.#oneIn(3) && { expiresWhenUnused: 2 * DAY_MS }),
      ...(form === 3 && this.#oneIn(2) && { recoverable: true }),
    };
    const bad = chance.below(30);
    const flaws: readonly Record<string, unknown>[] = [
      { roles: ["nobody"] },
      { permissions: ["no.such"] },
      { apiId: "api_none" },
      { apiId: this.#limited, remaining: 51 },
      { remaining: -1 },
      { createdAt: this.context.now() + 1 },
    ];
    Object.assign(given, flaws[bad]);
    for (const field of OPTIONAL) if (!(field in given) && this.#oneIn(3)) given[field] = undefined;
    return { secret, input: given as ImportKeyInput, isBad: bad < flaws.length };
  }

  #keys(): readonly ForeignKey[] {
    return Array.from({ length: 1 + this.chance.below(6) }, () => this.#key());
  }

  /** A process whose store fails once. */
  #failing(): Latchkey {
    const { store } = this.context;
    let left = this.chance.below(3);
    return this.context.another({
      store: wrapped(store, {
        commit: async (...given) => {
          left -= 1;
          if (left !== -1) return store.commit(...given);
          if (this.#oneIn(2)) await store.commit(...given);
          throw unavailable("the store is down", "unknown");
        },
      }),
    });
  }

  async #step(): Promise<void> {
    const kind = this.chance.below(8);
    if (kind === 0) return this.#delete();
    if (kind === 1) return this.#together();
    if (kind === 2) return this.#elsewhere();
    if (kind === 3) return this.#atOnce();
    return this.#oneByOne();
  }

  async #delete(): Promise<void> {
    const [secret, keyId] = this.chance.pick([...this.model.keyIds, [-1, ""] as const]);
    if (keyId === "") return;
    const { apiId, identity } = await this.context.latchkey.getKey({ keyId });
    await this.context.latchkey.deleteKey({ keyId });
    this.model.keyIds.delete(secret);
    const owner = identity?.externalId;
    if (owner !== undefined && apiId === this.#limited)
      this.model.owners.set(owner, (this.model.owners.get(owner) ?? 0) - 1);
  }

  /** The secrets of another workspace do not matter. */
  async #elsewhere(): Promise<void> {
    const other = this.context.latchkey.workspace(`${this.context.latchkey.workspaceId}_other`);
    const { apiId } = await other.createApi({ name: "boats" });
    await other.createKeys([{ apiId, plaintext: foreign(this.chance.below(25)) }], {
      partial: true,
    });
  }

  async #oneByOne(): Promise<void> {
    const keys = this.#keys();
    const inputs = keys.map(({ input }) => input);
    const partial = true;
    const trial = await this.context.another().createKeys(inputs, { partial, dryRun: true });
    const expected = keys.map((key) => this.model.takes(key, this.#limited));
    const accepted = ({ results }: PartlyCreatedKeys) =>
      results.map(({ error }) => error === undefined);
    expect(accepted(trial)).toEqual(expected);
    expect(trial.results.filter(({ keyId }) => typeof keyId === "string")).toEqual([]);
    this.#calls += 1;
    const options = { partial, idempotencyKey: `call ${this.#calls}` } as const;
    const failing = this.#failing();
    const first = await failing.createKeys(inputs, options).catch(() => null);
    const call = () => failing.createKeys(inputs, options);
    const real = await call().catch(call);
    const again = await this.context.another().createKeys(inputs, options);
    expect(shown(real)).toEqual(shown(trial));
    expect([again, shown(again)]).toEqual([real, shown(real)]);
    if (first !== null) expect(first).toEqual(real);
    this.#learn(keys, real);
  }

  #learn(keys: readonly ForeignKey[], { results }: PartlyCreatedKeys): void {
    for (const [at, { keyId }] of results.entries())
      if (keyId) this.model.keyIds.set(keys[at]?.secret ?? -1, keyId);
  }

  async #together(): Promise<void> {
    const keys = this.#keys();
    const inputs = keys.map(({ input }) => input);
    const trial = this.model.copy();
    const isTaken = keys.every((key) => trial.takes(key, this.#limited));
    if (!isTaken) {
      const error = (await rejectionOf(this.context.another().createKeys(inputs))) as LatchkeyError;
      expect(error.outcome).not.toBe("unknown");
      return;
    }
    const { keyIds } = await this.context.another().createKeys(inputs);
    for (const key of keys) this.model.takes(key, this.#limited);
    this.#learn(keys, { results: keyIds.map((keyId) => ({ keyId })) });
  }

  /** The result is that of one order. */
  async #atOnce(): Promise<void> {
    const lists = [this.#keys(), this.#keys()];
    const before = this.model.copy();
    const answers = await Promise.all(
      lists.map((keys) =>
        this.context.another().createKeys(
          keys.map(({ input }) => input),
          { partial: true },
        ),
      ),
    );
    const accepted = answers.map(({ results }) => results.map(({ error }) => error === undefined));
    const orders = [
      [0, 1],
      [1, 0],
    ].map((order) => {
      const model = before.copy();
      const taken: boolean[][] = [[], []];
      for (const at of order)
        taken[at] = (lists[at] ?? []).map((key) => model.takes(key, this.#limited));
      return taken;
    });
    expect(orders).toContainEqual(accepted);
    for (const [at, keys] of lists.entries()) {
      for (const [index, key] of keys.entries())
        if (accepted[at]?.[index]) this.model.takes(key, this.#limited);
      this.#learn(keys, answers[at] as PartlyCreatedKeys);
    }
  }
}

describeOnEveryStore("imports", (open, runs) => {
  test("do what a model of secrets and owners does, and their dry runs say so before", async () => {
    const nextWorkspace = workspacesOf(open(VAULT));
    const last = SEED + runs(60);
    for (let seed = SEED; seed < last; seed += 1)
      try {
        await new Schedule(nextWorkspace(), chanceOf(seed)).run();
      } catch (error) {
        throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
      }
  });
});
