import { createLatchkey, type Latchkey } from "@latchkey/core";
import type { KeySetup, KnownKey } from "../history.js";
import type { Plan } from "../plan/plan.js";
import { Random } from "../random.js";
import { linkedStore } from "./link.js";
import { Scheduler } from "./scheduler.js";
import { StoreServer, type Write } from "./server.js";

/** A workspace, as it is when the schedule begins. */
export interface KnownWorkspace {
  readonly id: string;
  readonly apiId: string;
  readonly roleId: string;
  readonly identityIds: readonly string[];
}

/** The initial state of a schedule, written by latchkey. Schedules with the same initial state share one template. */
export interface Template {
  readonly writes: readonly Write[];
  readonly workspaces: readonly KnownWorkspace[];
  readonly keys: readonly Pick<KnownKey, "keyId" | "secret" | "workspace" | "setup">[];
}

const templates = new Map<string, Promise<Template>>();

/** The template of a plan. */
export function templateOf({ workspaces, keys }: Plan): Promise<Template> {
  const name = JSON.stringify([workspaces, keys]);
  const known = templates.get(name);
  if (known !== undefined) return known;
  if (templates.size >= 1_000) templates.clear();
  const made = makeTemplate({ workspaces, keys });
  templates.set(name, made);
  return made;
}

async function makeTemplate(plan: Pick<Plan, "workspaces" | "keys">): Promise<Template> {
  const random = new Random(702);
  const scheduler = new Scheduler();
  const server = new StoreServer(scheduler, null, { charge: {}, commit: {} });
  const network = (): "direct" => "direct";
  const isAlive = (): boolean => true;
  const { workspace: at } = createLatchkey({
    store: linkedStore({ scheduler, server, network, random, process: -1, isAlive }),
    clock: () => scheduler.now,
    random: (size) => random.bytes(size),
    usage: false,
  });
  const workspaces: KnownWorkspace[] = [];
  for (const [index, { identities }] of plan.workspaces.entries())
    workspaces.push(await makeWorkspace(at(`ws_${index}`), identities));
  const keys: Template["keys"][number][] = [];
  for (const { workspace, ...setup } of plan.keys) {
    const { id, apiId } = workspaces[workspace] as KnownWorkspace;
    const { key, keyId } = await createKey(at(id), apiId, setup);
    keys.push({ keyId, secret: key, workspace, setup });
  }
  return { writes: server.writes, workspaces, keys };
}

async function makeWorkspace(
  latchkey: Latchkey,
  identities: readonly (number | null)[],
): Promise<KnownWorkspace> {
  const { apiId } = await latchkey.createApi({ name: "payments" });
  for (const name of ["read", "write", "docs.*"]) await latchkey.createPermission({ name });
  const { roleId } = await latchkey.createRole({ name: "reader", permissions: ["read"] });
  const identityIds: string[] = [];
  for (const [place, remaining] of identities.entries()) {
    const { identityId } = await latchkey.createIdentity({
      externalId: `user_${place}`,
      ...(remaining !== null && { remaining }),
    });
    identityIds.push(identityId);
  }
  return { id: latchkey.workspaceId, apiId, roleId, identityIds };
}

/** Creates a key according to a setup. */
export function createKey(
  latchkey: Latchkey,
  apiId: string,
  { remaining, refill, limit, slots, identity, usesFrom, hasRole }: KeySetup,
): Promise<{ readonly key: string; readonly keyId: string }> {
  const hasUses = remaining !== null && usesFrom === "key";
  return latchkey.createKey({
    apiId,
    ...(hasUses && { remaining }),
    ...(hasUses && refill !== null && { refill }),
    ...(limit !== null && { ratelimit: limit }),
    ...(slots !== null && {
      ratelimits: [
        { name: "parallel", algorithm: "concurrent" as const, autoApply: true, ...slots },
      ],
    }),
    ...(identity !== null && { externalId: `user_${identity}`, usesFrom }),
    ...(hasRole && { roles: ["reader"] }),
  });
}
