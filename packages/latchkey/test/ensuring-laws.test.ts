import type { KeyStore, Latchkey } from "@latchkey/core";
import { expect, test } from "vitest";
import { type Chance, chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { type TestContext, workspacesOf } from "./test-context.js";
import { wrapped } from "./wrapped-store.js";

const SEED = Number(process.env.LATCHKEY_LAW_SEED ?? 20261130);
const NAMES = ["docs.read", "docs.write", "docs.share"];
const ROLES = ["reader", "writer"];
const KILLED = new Error("killed");

/** A store of a process that is killed before or after some of its commits. */
function killed(store: KeyStore, chance: Chance): KeyStore {
  return wrapped(store, {
    commit: async (workspaceId, change) => {
      const draw = chance.below(6);
      if (draw === 0) throw KILLED;
      const result = await store.commit(workspaceId, change);
      if (draw === 1) throw KILLED;
      return result;
    },
  });
}

const some = (chance: Chance) => NAMES.filter(() => chance.below(2) === 0);

/** What each process may do at the same moment as others. */
async function act(latchkey: Latchkey, chance: Chance): Promise<unknown> {
  const [draw, name, permissions] = [chance.below(8), chance.pick(ROLES), some(chance)];
  const [role] = (await latchkey.listRoles()).filter((one) => one.name === name);
  const [permission] = (await latchkey.listPermissions()).filter(() => chance.below(2) === 0);
  if (draw < 3) return latchkey.ensureRole({ name, permissions });
  if (draw < 5) return latchkey.ensurePermissions(permissions);
  if (draw < 6) return latchkey.createRole({ name, permissions: [] });
  if (draw < 7) return role && latchkey.deleteRole({ roleId: role.id });
  return permission && latchkey.deletePermission({ permissionId: permission.id });
}

async function ensureBesideOthers(context: TestContext, seed: number): Promise<void> {
  const chance = chanceOf(seed);
  const { latchkey, store } = context;
  const processes = [
    latchkey,
    context.another(),
    context.another({ store: killed(store, chance) }),
  ];
  const { apiId } = await latchkey.createApi({ name: "tide tables" });
  for (let round = 0; round < 6; round += 1) {
    const acts = Array.from({ length: 4 }, () => act(chance.pick(processes), chance));
    for (const { status, reason } of (await Promise.allSettled(acts)) as PromiseRejectedResult[])
      if (status === "rejected" && reason !== KILLED)
        expect(["CONFLICT", "NOT_FOUND", "PRECONDITION_FAILED"]).toContain(reason.code);

    const name = chance.pick(ROLES);
    const permissions = some(chance);
    const ensured = await Promise.all(
      [latchkey, context.another(), latchkey].map((one) => one.ensureRole({ name, permissions })),
    );
    const at = `seed ${seed}, round ${round}`;
    expect(new Set(ensured.map(({ roleId }) => roleId)).size, at).toBe(1);
    expect(ensured.filter(({ created }) => created).length, at).toBeLessThan(2);
    const created = await Promise.all(
      [latchkey, context.another()].map((one) => one.ensurePermissions(NAMES)),
    );
    const twice = created.flatMap((one) => one.created);
    expect(new Set(twice).size, at).toBe(twice.length);

    const [{ roleId } = { roleId: "" }] = ensured;
    const { key } = await latchkey.createKey({ apiId, roles: [name] });
    for (const one of processes.slice(0, 2)) {
      const names = (await one.listRoles()).map((role) => role.name);
      expect(new Set(names).size, at).toBe(names.length);
      expect((await one.listPermissions()).map((each) => each.name).sort(), at).toEqual(
        NAMES.toSorted(),
      );
      const role = await one.getRole({ roleId });
      const verdict = await one.verifyKey({ key });
      expect(role.permissions.toSorted(), at).toEqual(permissions.toSorted());
      const { permissions: held = [] } = verdict.valid ? verdict : {};
      expect(held.toSorted(), at).toEqual(permissions.toSorted());
    }
  }
}

describeOnEveryStore("ensuring roles and permissions", (open, runs) => {
  test("leaves one of each name, with what was asked for, whatever other processes do or are killed in", async () => {
    const nextWorkspace = workspacesOf(open());
    for (let seed = SEED; seed < SEED + runs(40); seed += 1)
      await ensureBesideOthers(nextWorkspace(), seed);
  });
});
