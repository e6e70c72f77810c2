import { type AuditEvent, interceptStore, type Latchkey, LatchkeyError } from "@latchkey/core";
import { expect, test } from "vitest";
import { chanceOf, seedsOf } from "./chance.js";
import { API_CASES } from "./change-cases/apis.js";
import {
  type ChangeCase,
  type ChangeFixture,
  makeChangeFixture,
  WITH_VAULT,
} from "./change-cases/fixture.js";
import { IDENTITY_CASES } from "./change-cases/identities.js";
import { KEY_GRANT_CASES } from "./change-cases/key-grants.js";
import { KEY_CASES } from "./change-cases/keys.js";
import { ROLE_CASES } from "./change-cases/roles.js";
import { WORKSPACE_CASES } from "./change-cases/workspaces.js";
import { describeOnEveryStore } from "./every-store.js";
import { type TestContext, workspacesOf } from "./test-context.js";
import { unclosed } from "./wrapped-store.js";

/** Operations that work in several steps, between which others may come. */
const IN_STEPS: ReadonlySet<string> = new Set([
  "deleteApi",
  "deleteKeys",
  "disableKeys",
  "enableKeys",
  "deleteIdentity",
  "eraseIdentity",
  "reencryptKeys",
  "createWorkspace",
  "notice",
  "pruneAuditEvents",
  "pruneVerifications",
]);

/** Cases that make several calls. */
const SEVERAL: ReadonlySet<string> = new Set([
  "updateKeys",
  "removeRoles",
  "removePermissions",
  "setWorkspaceEnabled",
]);

const GROUPS = [
  API_CASES,
  [...KEY_CASES, ...KEY_GRANT_CASES],
  IDENTITY_CASES,
  ROLE_CASES,
  WORKSPACE_CASES,
].map((cases) =>
  cases.filter(({ operation }) => !IN_STEPS.has(operation) && !SEVERAL.has(operation)),
);

/** An entry about uses tells which the change was based on. Verifications and other changes may have moved them since. */
const isAboutUses = ({ changes }: AuditEvent): boolean =>
  changes.some(({ field }) => field === "remaining");

/** Everything in a workspace, as text, with the same names for the same things in every workspace. */
async function contentsOf(latchkey: Latchkey, fixture: ChangeFixture): Promise<readonly string[]> {
  const { apis } = await latchkey.listApis();
  const keys = await Promise.all(apis.map(({ id: apiId }) => latchkey.listKeys({ apiId })));
  const { events } = await latchkey.readEvents();
  const all: readonly unknown[] = [
    ...apis,
    ...keys.flatMap((page) => page.keys),
    ...(await latchkey.listIdentities()).identities,
    ...(await latchkey.listPermissions()),
    ...(await latchkey.listRoles()),
    ...(await latchkey.listRootKeys()).rootKeys,
    ...events.filter((event) => !isAboutUses(event)).map(({ id: _, ...event }) => event),
  ];
  const known = new Map(Object.entries(fixture).map(([name, id]) => [id as string, name]));
  const texts = all.map((one) =>
    JSON.stringify(one, (name, value) => (name === "start" ? undefined : value))
      .replaceAll(latchkey.workspaceId, "the workspace")
      .replace(/\b[a-z]+_[A-Za-z0-9]{20,}/g, (id) => known.get(id) ?? "new"),
  );
  return texts.sort();
}

/** What a change returned: that it was made, or the code of its error. */
async function outcomeOf(made: Promise<unknown>): Promise<string> {
  try {
    await made;
    return "made";
  } catch (error) {
    if (error instanceof LatchkeyError) return error.code;
    throw error;
  }
}

/**
 * Makes two changes in a new workspace. `place`: before how many store calls of the first the second is made as a whole; null: before the
 * first; infinite: after it.
 */
async function makeBoth(
  context: TestContext,
  first: ChangeCase["run"],
  second: ChangeCase["run"],
  place: number | null,
) {
  const fixture = await makeChangeFixture(context);
  const other = context.another();
  const made: Record<"first" | "second", string | null> = { first: null, second: null };
  const makeSecond = async () => {
    made.second = await outcomeOf(second(other, fixture));
  };
  let left = place ?? -1;
  const store = interceptStore(unclosed(context.store), async (_, call) => {
    if (left === 0) await makeSecond();
    left -= 1;
    return call();
  });
  if (place === null) await makeSecond();
  made.first = await outcomeOf(first(context.another({ store }), fixture));
  if (made.second === null) await makeSecond();
  return { ...made, contents: await contentsOf(context.another(), fixture) };
}

describeOnEveryStore("two changes at the same time", (open, runs) => {
  test("end as if one was made after the other", { timeout: 120_000 }, async () => {
    const nextWorkspace = workspacesOf(open({ ...WITH_VAULT, usage: false }));
    for (const seed of seedsOf(runs(160))) {
      const chance = chanceOf(seed);
      // Mostly of one group: these meet more often.
      const group = chance.pick(GROUPS);
      const one = chance.pick(group);
      const two = chance.pick(chance.below(3) === 0 ? GROUPS.flat() : group);
      const place = chance.below(6);
      const both = await makeBoth(nextWorkspace(), one.run, two.run, place);
      const orders = [
        await makeBoth(nextWorkspace(), one.run, two.run, null),
        await makeBoth(nextWorkspace(), one.run, two.run, Number.POSITIVE_INFINITY),
      ];
      const why = `seed ${seed}: ${two.title} before call ${place} of ${one.title}`;
      expect(orders, why).toContainEqual(both);
    }
  });
});
