import type { Change, KeyView, VerifyOutcome } from "@latchkey/core";
import { hasReturned, mayHaveHappened } from "../history.js";
import type { KnownWorkspace, World } from "../world/world.js";
import { hasOtherClocks } from "./calls.js";

/** A law about how all stands when everything has come to rest. It may call, and then runs the world. */
export type EndLaw = (world: World, fresh: Fresh) => Promise<string | null>;

/** A latchkey that knows nothing from before. */
type Fresh = ReturnType<World["fresh"]>;

async function answerOf<Value>(world: World, asking: Promise<Value>): Promise<Value | string> {
  const settled = asking.catch((error: unknown) => String(error));
  await world.scheduler.run();
  return await settled;
}

/** Every process decides as one that knows nothing from before: no cache tells what the store does not hold. */
export const processesAgreeWithTheStore: EndLaw = async (world, fresh) => {
  // What expires, and which window is open, is decided by the clock of whoever asks.
  if (hasOtherClocks(world)) return null;
  for (const [place, key] of world.keys.entries())
    for (const [index, process] of world.processes.entries()) {
      const permissions = [undefined, "read", "write"][(place + index + world.plan.seed) % 3];
      // What expires, and which window is open, is decided by the clock of whoever asks.
      if (process.clockOffset !== 0) continue;
      const question = {
        key: key.secret,
        ipAddress: "192.0.2.1",
        // Nothing is taken.
        remaining: { cost: 0 },
        ...(permissions !== undefined && { authorization: { permissions } }),
      };
      const freeLimit = key.setup.limit === null ? {} : { ratelimit: { cost: 0 } };
      const ask = (): Promise<VerifyOutcome | string> =>
        answerOf(
          world,
          world
            .latchkeyOf(fresh, key.workspace)
            .verifyKey({ ...question, ...freeLimit, dryRun: true }),
        );
      const expected = await ask();
      // Of a warm process decided from memory, and confirmed by the store.
      const verdict = await answerOf(
        world,
        world.latchkeyOf(process, key.workspace).verifyKey({ ...question, ...freeLimit }),
      );
      const [told, truth] = [essenceOf(verdict), essenceOf(expected)];
      // It may have expired between the two questions.
      if (told !== truth && told !== essenceOf(await ask()))
        return `p${index} says ${told} of ${key.name}, the store ${truth}`;
    }
  return null;
};

/** What a verdict says, without what moves by itself. */
function essenceOf(verdict: VerifyOutcome | string): string {
  if (typeof verdict === "string") return verdict;
  if (verdict.code === "NOT_FOUND") return verdict.code;
  const { code, permissions, roles, name, identity } = verdict;
  return JSON.stringify({ code, permissions, roles, name, identity });
}

/** A list has what was created and not deleted, and says how many there are. */
export const listsAreWhole: EndLaw = async (world, fresh) => {
  if (world.losses.length > 0) return null;
  for (const [workspace, { apiId }] of world.workspaces.entries()) {
    const listed = await answerOf(world, world.latchkeyOf(fresh, workspace).listKeys({ apiId }));
    if (typeof listed === "string") return `listKeys: ${listed}`;
    const ids = new Set(listed.keys.map(({ id }) => id));
    if (ids.size !== listed.total) return `${ids.size} keys listed, ${listed.total} said`;
    for (const key of world.keys) {
      if (key.workspace !== workspace) continue;
      const deletions = world.calls.filter(
        (call) => call.action === "deleteKey" && call.key === key,
      );
      if (!deletions.some(mayHaveHappened) && !ids.has(key.keyId))
        return `${key.name} is not listed`;
      if (deletions.some(hasReturned) && ids.has(key.keyId)) return `${key.name} is listed still`;
    }
  }
  return null;
};

/** The entries of the audit log, one after the other, lead to what the record says now. */
export const logLeadsToTheRecord: EndLaw = async (world, fresh) => {
  for (const key of world.keys) {
    const latchkey = world.latchkeyOf(fresh, key.workspace);
    const view = await answerOf(world, latchkey.getKey({ keyId: key.keyId }));
    if (typeof view === "string") continue;
    const log = await answerOf(world, latchkey.listAuditEvents({ keyId: key.keyId, limit: 100 }));
    if (typeof log === "string") return `listAuditEvents: ${log}`;
    // Entries of two processes in one millisecond have no order, nor have those of clocks that differ.
    const instants = log.events.map(({ at }) => at);
    if (new Set(instants).size < instants.length || hasOtherClocks(world)) continue;
    const state = new Map<string, string>();
    for (const { id, type, changes } of [...log.events].reverse())
      for (const { field, before, after } of changes) {
        if (!type.startsWith("key.") || field === "remaining") continue;
        const was = state.get(field);
        if (was !== undefined && was !== JSON.stringify(before ?? null))
          return `${key.name}: ${id} says that ${field} was ${JSON.stringify(before)}, it was ${was}`;
        state.set(field, JSON.stringify(after ?? null));
      }
    const wrong = differing(view, state);
    if (wrong !== undefined) return `${key.name}: ${wrong} is not what the log says`;
  }
  return null;
};

function differing(view: KeyView, state: ReadonlyMap<string, string>): string | undefined {
  const shown: Readonly<Record<string, unknown>> = { name: view.name, expires: view.expires };
  return Object.keys(shown).find(
    (field) => (state.get(field) ?? "null") !== JSON.stringify(shown[field] ?? null),
  );
}

/** What resolved stays: a name is that of the last change, or of one that was under way with it or after it. */
export const changesStay: EndLaw = async (world, fresh) => {
  for (const key of world.keys) {
    if (world.losses.some(({ ids }) => ids.has(key.keyId))) continue;
    const renames = world.calls.filter(
      (call) => call.action === "renameKey" && call.key === key && mayHaveHappened(call),
    );
    if (renames.length === 0) continue;
    const view = await answerOf(
      world,
      world.latchkeyOf(fresh, key.workspace).getKey({ keyId: key.keyId }),
    );
    if (typeof view === "string") continue;
    const possible = renames.filter(
      (call) => !renames.some((other) => hasReturned(other) && other.startTick > call.endTick),
    );
    // Before the first it has none, or that of the key that it was made of.
    if (!renames.some(hasReturned)) continue;
    if (!possible.some(({ args }) => args.name === view.name))
      return `${key.name} is called ${view.name}; ${possible.map(({ index }) => `#${index}`)} resolved`;
  }
  return null;
};

/** Nothing of a deleted key is left that leads to it. */
export const deletedIsGone: EndLaw = async (world) => {
  for (const key of world.keys) {
    const isDeleted = world.calls.some(
      (call) => call.action === "deleteKey" && call.key === key && hasReturned(call),
    );
    if (!isDeleted || world.losses.length > 0) continue;
    const { id } = world.workspaces[key.workspace] as KnownWorkspace;
    const { found } = await world.server.store.read(id, [{ kind: "key", id: key.keyId }]);
    if (found[0] !== null) return `the record of ${key.name} is left`;
    const claimed = world.server.writes.some(
      ({ method, args }) =>
        method === "commit" &&
        (args[1] as Change).deletes.some((deleted) => deleted.id === key.keyId) &&
        (args[1] as Change).releases.every((released) => released.id !== key.keyId),
    );
    if (claimed) return `the hash of ${key.name} is claimed still`;
  }
  return null;
};

/** Statistics never tell more verifications than there were. */
export const statisticsFit: EndLaw = async (world, fresh) => {
  if (world.plan.network !== "direct") return null;
  for (const { latchkey } of world.processes) await answerOf(world, latchkey.close());
  for (const key of world.keys) {
    const start = world.scheduler.now - 20 * 86_400_000;
    const told = await answerOf(
      world,
      world.latchkeyOf(fresh, key.workspace).getVerifications({ keyId: key.keyId, start }),
    );
    if (typeof told === "string") continue;
    const sum = told.verifications.reduce((total, { success }) => total + success, 0);
    const admitted = world.calls.filter(
      (call) =>
        call.action === "verify" &&
        call.key === key &&
        call.outcome.kind === "returned" &&
        (call.outcome.value as VerifyOutcome).code === "VALID",
    ).length;
    // Once by each process for the law above.
    const asked = world.processes.length;
    if (sum > admitted + asked) return `${key.name}: ${sum} verifications told, ${admitted} were`;
  }
  return null;
};
