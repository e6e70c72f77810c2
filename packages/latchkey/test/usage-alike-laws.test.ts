import type { Latchkey, LatchkeyOptions, UsageRow } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf, seedsOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { DAY_MS, HOUR_MS, type TestContext, VAULT_KEYS, workspacesOf } from "./test-context.js";

const STEPS = 60;

const OPTIONS: Partial<LatchkeyOptions> = {
  tokens: { current: "t", keys: { t: VAULT_KEYS[1] } },
};

/** The code of the error of a call; otherwise what it returned. */
const outcomeOf = (call: Promise<object>) =>
  call.catch((error: { readonly code?: string }) => ({ code: error.code }));

/** Verifications of all kinds, and changes of what they count for, in random order. */
class Schedule {
  /** What each step returned. */
  readonly outcomes: unknown[] = [];
  /** Ids in the order of their creation: they have other names in another workspace. */
  readonly ids: string[] = [];
  readonly #processes: readonly Latchkey[];
  readonly #keys: { key: string; readonly keyId: string }[] = [];
  readonly #open: string[] = [];
  #requests = 0;

  constructor(
    readonly context: TestContext,
    readonly chance: Chance,
    isDurable: boolean,
  ) {
    const usage = { durable: isDurable, flushMs: "1h" } as const;
    this.#processes = [0, 1].map(() => context.another({ usage }));
  }

  /** Runs on days that no other schedule has: the clock of a process never goes back. */
  async run(): Promise<readonly object[]> {
    const { latchkey, now, setClock } = this.context;
    setClock(now() + 40 * DAY_MS - (now() % DAY_MS));
    const startAt = now();
    for (const name of ["tides", "wharves"])
      this.ids.push((await latchkey.createApi({ name })).apiId);
    for (const externalId of ["pier-1", "pier-2"])
      this.ids.push((await latchkey.createIdentity({ externalId, remaining: 25 })).identityId);
    for (let key = 0; key < 3; key += 1) await this.#create(latchkey);
    for (let step = 0; step < STEPS; step += 1) {
      this.context.advance(this.chance.below(30) * 60_000);
      this.outcomes.push(await this.#step(this.chance.pick(this.#processes)));
    }
    return this.#rows(startAt);
  }

  async #create(latchkey: Latchkey): Promise<string> {
    const { chance } = this;
    const tags = ["tide", "quay"].filter(() => chance.below(2) === 0);
    const externalId = chance.pick([null, "pier-1", "pier-2"]);
    const ratelimits = [
      { name: "shadow", limit: 1, duration: DAY_MS, autoApply: true, shadow: true },
      { name: "slots", limit: 2, duration: HOUR_MS, algorithm: "concurrent", autoApply: true },
      { name: "few", limit: 4, duration: 2 * HOUR_MS, autoApply: true },
    ] as const;
    const made = await latchkey.createKey({
      apiId: this.ids[chance.below(2)] ?? "",
      ...(externalId !== null && { externalId }),
      tags: tags.length > 0 ? tags : undefined,
      remaining: externalId === null && chance.below(2) === 0 ? 1 + chance.below(20) : undefined,
      ratelimits: ratelimits.filter(() => chance.below(3) === 0),
      expires: chance.below(5) === 0 ? this.context.now() + 5 * HOUR_MS : undefined,
      enabled: chance.below(8) > 0,
    });
    this.#keys.push({ keyId: made.keyId, key: made.key ?? "" });
    this.ids.push(made.keyId);
    return "created";
  }

  async #step(latchkey: Latchkey): Promise<unknown> {
    const { chance } = this;
    const kind = chance.below(14);
    const { key, keyId } = chance.pick(this.#keys);
    const cost = chance.below(4);
    const codeOf = async (call: Promise<object>) => {
      const { code } = (await outcomeOf(call)) as { readonly code?: string };
      return code;
    };
    if (kind < 3) return codeOf(latchkey.verifyKey({ key, remaining: { cost } }));
    if (kind === 3) {
      this.#requests += chance.below(2);
      const requestId = `request ${this.#requests}`;
      return codeOf(latchkey.verifyKey({ key, requestId }));
    }
    if (kind === 4) return codeOf(latchkey.exchangeKey({ key, audience: "https://tides.example" }));
    if (kind === 5) {
      const permissions = chance.pick([null, { permissions: "tides.read" }]);
      return codeOf(latchkey.verifier({ cost, ...permissions })(key));
    }
    if (kind === 6) return codeOf(latchkey.verifyKey({ key, dryRun: true }));
    if (kind === 7) {
      const asked = { name: "asked", limit: 2, duration: HOUR_MS, shadow: chance.below(2) === 0 };
      return codeOf(latchkey.verifyKey({ key, ratelimits: [asked] }));
    }
    if (kind === 8 || kind === 9) {
      const held = await outcomeOf(latchkey.reserve({ key, remaining: { cost }, ttl: "1h" }));
      if ("reservationId" in held) this.#open.push(held.reservationId as string);
      return (held as { readonly code?: string }).code;
    }
    if (kind === 10) {
      const reservationId = this.#open.splice(chance.below(this.#open.length + 1), 1)[0];
      if (reservationId === undefined) return "none";
      return codeOf(latchkey.settle({ reservationId, remaining: { cost } }));
    }
    if (kind === 11) return this.#create(latchkey);
    if (kind === 12) {
      const tags = chance.pick([["tide"], ["quay", "lock"], null]);
      const owner = chance.pick([null, { externalId: "pier-1" }, { externalId: "pier-2" }]);
      return codeOf(latchkey.updateKey({ keyId, tags, ...owner }));
    }
    const rotated = await outcomeOf(latchkey.rotateKey({ keyId, graceMs: HOUR_MS }));
    if (!("key" in rotated)) return (rotated as { readonly code?: string }).code;
    const next = rotated as { readonly key: string; readonly keyId: string };
    this.#keys.push(next);
    this.ids.push(next.keyId);
    return "rotated";
  }

  /** All rows, with ids that are the same in every workspace. */
  async #rows(start: number): Promise<readonly object[]> {
    const end = this.context.now();
    for (const process of this.#processes)
      await process.getVerifications({ apiId: this.ids[0] ?? "" });
    this.context.advance(HOUR_MS + 120_000);
    const all: object[] = [];
    for (const by of ["key", "identity", "api", "tag"] as const) {
      const question = { start, end, granularity: "hour", by, limit: 1_000 } as const;
      const { rows, cursor } = await this.context.latchkey.exportUsage(question);
      expect(cursor).toBeUndefined();
      const named = rows.map(({ id: _, keyId, identityId, apiId, tag, ...row }: UsageRow) => {
        const subject = keyId ?? identityId ?? apiId ?? "";
        return { ...row, by, of: tag ?? this.ids.indexOf(subject), start: row.start - start };
      });
      all.push(...named.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1)));
    }
    return all;
  }
}

const nameOf = ({ by, of, start }: { by: string; of: string | number; start: number }) =>
  `${by} ${of} ${start}`;

describeOnEveryStore("usage", (open, runs) => {
  test("is the same whether it is counted in the step of the charge or beside it", async () => {
    const nextWorkspace = workspacesOf(open(OPTIONS));
    for (const seed of seedsOf(runs(40))) {
      const schedules = [true, false].map(
        (isDurable) => new Schedule(nextWorkspace(), chanceOf(seed), isDurable),
      );
      const rows: (readonly object[])[] = [];
      for (const schedule of schedules) rows.push(await schedule.run());
      const [durable, beside] = schedules;
      expect(beside?.outcomes, `seed ${seed}`).toEqual(durable?.outcomes);
      expect(rows[1], `seed ${seed}`).toEqual(rows[0]);
      expect(rows[0]?.length).toBeGreaterThan(10);
    }
  });
});
