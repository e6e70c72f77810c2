import type { LatchkeyError, RootKeyOutcome } from "@latchkey/core";
import { type Call, type KnownRootKey, returnedBy } from "../history.js";
import type { RootKeyArgs } from "../plan/root-key-actions.js";
import type { World } from "../world/world.js";
import { possibleValues, type Register, type Setter } from "./registers.js";
import {
  type Expiry,
  expiryAfterRotation,
  expiryIn,
  isWorkspaceOn,
  NEVER,
  valuesAtRotation,
} from "./settings.js";

/** The state that calls have set of a root key, field by field. */
interface RootKeySettings {
  readonly exists: Register<boolean>;
  readonly expiry: Register<Expiry>;
  readonly permissions: Register<string>;
}

function argsOf({ args }: Call): RootKeyArgs {
  return args as unknown as RootKeyArgs;
}

function settingsOf(
  world: World,
  { name, rootKeyId: id, origin, permissions }: KnownRootKey,
): RootKeySettings {
  const calls = world.calls.filter((one) => one.action === "rootKey" && one.args.root === name);
  const settersOf = <Value>(
    does: RootKeyArgs["does"],
    read: (call: Call) => Value,
  ): readonly Setter<Value>[] =>
    calls.filter((call) => argsOf(call).does === does).map((call) => ({ call, value: read(call) }));
  const inherited = <Field extends keyof RootKeySettings>(field: Field): never[] => {
    if (origin === null) return [];
    const register: Register<unknown> = settingsOf(world, origin.root)[field];
    return valuesAtRotation(world, register, origin.call) as never[];
  };
  const expiries: readonly Expiry[] = origin === null ? [NEVER] : inherited("expiry");
  const set = settersOf("expire", (call) => expiryIn(argsOf(call).inMs ?? null, call));
  const rotated = settersOf("rotate", (call) => {
    const { graceMs = 0 } = argsOf(call);
    const before = possibleValues({ id, initial: expiries, setters: set }, call, world.losses);
    const span = { least: call.leastNow + graceMs, most: call.endNow + graceMs };
    return expiryAfterRotation(before, span);
  });
  // The store may have lost the key, or only the pointer to it, which has another id. A crash loses neither once a call has returned.
  const isLost = world.losses.some(
    ({ ids, writes }) =>
      ids.size > 0 && writes.some(({ args }) => JSON.stringify(args).includes(`"${id}"`)),
  );
  return {
    exists: {
      id,
      initial: isLost ? [true, false] : [true],
      setters: settersOf("revoke", () => false),
    },
    expiry: { id, initial: expiries, setters: [...set, ...rotated] },
    permissions: {
      id,
      initial: origin === null ? [String(permissions)] : inherited("permissions"),
      setters: settersOf("permit", (call) => String(argsOf(call).permissions)),
    },
  };
}

/** Law: a root key authenticates exactly while it exists, has not expired, and its workspace is enabled, and with its own permissions. */
export function rootKeysHold(world: World): string | null {
  for (const call of world.calls) {
    const root = world.rootKeys.find(({ name }) => name === call.args.root);
    if (call.action !== "rootKey" || root === undefined) continue;
    const seen = <Value>(register: Register<Value>) => possibleValues(register, call, world.losses);
    const settings = settingsOf(world, root);
    const exists = seen(settings.exists);
    const { kind } = returnedBy<RootKeyOutcome>(call);
    const { outcome } = call;
    if (outcome.kind === "failed") {
      const isMissing = (outcome.error as LatchkeyError).code === "NOT_FOUND";
      if (isMissing && !exists.includes(false))
        return `#${call.index} does not find ${root.name}, which exists`;
      continue;
    }
    if (argsOf(call).does !== "authenticate" || kind === undefined) continue;
    const expiries = seen(settings.expiry);
    const isOn = seen(isWorkspaceOn(world, root.workspace));
    const canBeOver = expiries.some(({ least }) => least <= call.endNow);
    if (kind === "refused" && !exists.includes(false) && !canBeOver)
      return `#${call.index} refuses ${root.name}, which is valid`;
    if (kind === "workspace-disabled" && !isOn.includes(false))
      return `#${call.index} takes the workspace for disabled`;
    if (kind !== "authenticated") continue;
    const { permissions = [] } = returnedBy<{ readonly permissions: readonly string[] }>(call);
    if (!exists.includes(true)) return `#${call.index} admits ${root.name}, which was revoked`;
    if (!expiries.some(({ most }) => most > call.leastNow))
      return `#${call.index} admits ${root.name}, which has expired`;
    if (!isOn.includes(true)) return `#${call.index} admits ${root.name} to a disabled workspace`;
    if (!seen(settings.permissions).includes(String(permissions)))
      return `#${call.index} says that ${root.name} may do ${permissions}`;
  }
  return null;
}
