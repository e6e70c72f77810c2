import { type Latchkey, LatchkeyError, type LeakPolicy } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { foreign } from "./imports.js";
import { DAY_MS, type TestContext, VAULT_KEYS, workspacesOf } from "./test-context.js";
import { wrapped } from "./wrapped-store.js";

const SEED = Number(process.env.LATCHKEY_LAW_SEED ?? 20260613);

const VAULT = { current: "a", keys: { a: VAULT_KEYS[0] } };
const POLICIES: readonly LeakPolicy[] = ["disable", "delete", "rotate", "report"];
const OWNERS = ["pier-7", "pier-9"] as const;

/** The others' calls may meet records that are gone by now. */
async function orGone(call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    if (!(error instanceof LatchkeyError) || error.code === "STORE_UNAVAILABLE") throw error;
  });
}

/** Secrets that leak, and the keys that have or had them. */
interface World {
  readonly context: TestContext;
  readonly chance: Chance;
  readonly apiIds: string[];
  readonly secrets: string[];
  readonly keyIds: string[];
  /** Secrets that may be valid again, because they were imported after their key was gone. */
  readonly cameBack: Set<string>;
}

const urlOf = (chance: Chance) => `https://code.example/diff/${chance.below(2)}`;

/** What others do meanwhile; nothing of it enables a key. */
const ACTS: readonly ((world: World, latchkey: Latchkey) => Promise<void>)[] = [
  async ({ chance, keyIds }, latchkey) => {
    const graceMs = chance.pick([0, DAY_MS]);
    const rotating = latchkey.rotateKey({ keyId: chance.pick(keyIds), graceMs });
    await orGone(rotating.then(({ keyId }) => keyIds.push(keyId)));
  },
  async ({ chance, keyIds }, latchkey) =>
    orGone(latchkey.deleteKey({ keyId: chance.pick(keyIds) })),
  async ({ chance, keyIds }, latchkey) => {
    const externalId = chance.pick([...OWNERS, null]);
    await orGone(latchkey.updateKey({ keyId: chance.pick(keyIds), externalId, remaining: 5 }));
  },
  async ({ chance, keyIds }, latchkey) => {
    const expires = latchkey.now() + 5 * DAY_MS;
    await orGone(latchkey.updateKeys({ keyIds: [chance.pick(keyIds)], expires, tags: ["boats"] }));
  },
  async ({ chance }, latchkey) => orGone(latchkey.deleteKeys({ externalId: chance.pick(OWNERS) })),
  async ({ apiIds }, latchkey) => {
    if (apiIds.length > 1) await orGone(latchkey.deleteApi({ apiId: apiIds.pop() ?? "" }));
  },
  async ({ chance, apiIds, secrets, keyIds, cameBack }, latchkey) => {
    const plaintext = chance.pick(secrets);
    const keys = [{ apiId: apiIds[0] ?? "", plaintext }];
    const { results } = await latchkey.createKeys(keys, { partial: true });
    const keyId = results[0]?.keyId;
    if (keyId == null) return;
    keyIds.push(keyId);
    cameBack.add(plaintext);
  },
  async ({ chance, secrets }, latchkey) => {
    const leaks = [{ key: chance.pick(secrets), url: urlOf(chance) }];
    await latchkey.reportLeaks({ leaks, policy: chance.pick(POLICIES) });
  },
];

async function leakMarks(latchkey: Latchkey): Promise<readonly string[]> {
  const marks: string[] = [];
  for await (const { type, keyId, changes } of latchkey.auditEvents())
    if (type === "key.leaked")
      marks.push(`${keyId} ${String(changes.find(({ field }) => field === "url")?.after)}`);
  return marks;
}

/** @returns What is wrong after reports, each beside what others do. */
async function reportBesideOthers(context: TestContext, seed: number): Promise<readonly string[]> {
  const { latchkey, store } = context;
  const chance = chanceOf(seed);
  const world: World = {
    context,
    chance,
    apiIds: [],
    secrets: [],
    keyIds: [],
    cameBack: new Set(),
  };
  const { apiIds, secrets, keyIds, cameBack } = world;
  for (const name of ["tide tables", "charts"])
    apiIds.push((await latchkey.createApi({ name })).apiId);
  for (let count = 0; count < 6; count += 1) {
    const apiId = chance.pick(apiIds);
    const externalId = chance.pick(OWNERS);
    const recoverable = chance.below(2) === 0;
    const plaintext = foreign(count);
    if (count % 2 === 0) {
      const made = await latchkey.createKey({ apiId, externalId, recoverable, remaining: 50 });
      secrets.push(made.key);
      keyIds.push(made.keyId);
    } else {
      const { keyIds: made } = await latchkey.createKeys([{ apiId, externalId, plaintext }]);
      secrets.push(plaintext);
      keyIds.push(...made);
    }
  }
  const shifted = (days: number, more = store) =>
    context.another({ store: more, clock: () => context.now() + days * DAY_MS });
  const processes = [0, 3, -3].map((days) => shifted(days));
  for (const each of processes) for (const key of secrets) await each.verifyKey({ key });
  const wrong: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    cameBack.clear();
    let overtakes = 2;
    const overtaking = async <Result>(call: () => Promise<Result>): Promise<Result> => {
      if (overtakes > 0 && chance.below(5) === 0) {
        overtakes -= 1;
        await chance.pick(ACTS)(world, chance.pick(processes));
      }
      return call();
    };
    const beside = wrapped(store, {
      read: (...given) => overtaking(() => store.read(...given)),
      page: (...given) => overtaking(() => store.page(...given)),
      commit: (...given) => overtaking(() => store.commit(...given)),
    });
    const policy = chance.pick(POLICIES);
    const leaks = Array.from({ length: 1 + chance.below(3) }, () => ({
      key: chance.pick(secrets),
      url: urlOf(chance),
    }));
    const reporter = shifted(chance.pick([0, 3, -3]), beside);
    const { leaks: answers } = await reporter.reportLeaks({ leaks, policy });
    overtakes = 0;
    for (const [at, { key }] of leaks.entries()) {
      // A repeat changes nothing, so a report with another policy may have left the key alive.
      const isDue = policy !== "report" && answers[at]?.isRepeat !== true && !cameBack.has(key);
      for (const [place, each] of processes.entries())
        if (isDue && (await each.verifyKey({ key })).valid)
          wrong.push(`round ${round}: process ${place} admits leak ${at} after ${policy}`);
    }
    const marks = await leakMarks(latchkey);
    const { leaks: again } = await chance.pick(processes).reportLeaks({ leaks, policy });
    if (cameBack.size === 0) {
      if (again.some((leak) => leak !== null && !leak.isRepeat))
        wrong.push(`round ${round}: the same report is no repeat`);
      if ((await leakMarks(latchkey)).length > marks.length)
        wrong.push(`round ${round}: the same report wrote something`);
    }
    const ids = (some: typeof again) => some.map((leak) => leak?.keyId ?? null);
    if (cameBack.size === 0 && String(ids(again)) !== String(ids(answers)))
      wrong.push(`round ${round}: the same report has another answer`);
    if (new Set(marks).size < marks.length) wrong.push(`round ${round}: an entry is there twice`);
  }
  return wrong;
}

describeOnEveryStore("leaks beside others", (open, runs) => {
  test("X1: a reported secret is dead in every process, whatever its clock says and others do meanwhile", async () => {
    const nextWorkspace = workspacesOf(open({ vault: VAULT }));
    const last = SEED + runs(60);
    for (let seed = SEED; seed < last; seed += 1)
      expect(await reportBesideOthers(nextWorkspace(), seed), `seed ${seed}`).toEqual([]);
  });
});
