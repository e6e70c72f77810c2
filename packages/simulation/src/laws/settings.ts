import type { PermissionQuery } from "@latchkey/core";
import type { Call, KnownKey } from "../history.js";
import type { World } from "../world/world.js";
import { possibleValues, type Register, type Setter } from "./registers.js";

/** Bounds of the instant at which a key expires. Infinite: never. */
export interface Expiry {
  readonly least: number;
  readonly most: number;
}

const NEVER: Expiry = { least: Number.POSITIVE_INFINITY, most: Number.POSITIVE_INFINITY };

/** The state that calls have set of a key, its role and its API, field by field. */
export interface Settings {
  readonly exists: Register<boolean>;
  readonly isOn: Register<boolean>;
  readonly allowList: Register<readonly string[]>;
  readonly expiry: Register<Expiry>;
  /** Names of permissions granted to the key directly. */
  readonly own: Register<readonly string[]>;
  /** Names of permissions of its role. */
  readonly ofRole: Register<readonly string[]>;
  readonly name: Register<string | undefined>;
}

/** Whether a workspace is enabled; one that does not exist counts as enabled. */
export function isWorkspaceOn(world: World, index: number): Register<boolean> {
  const calls = world.calls.filter(({ key, workspace }) => key === null && workspace === index);
  return {
    id: world.workspaces[index]?.id ?? "",
    initial: [true],
    setters: settersOf(calls, { switchWorkspace: ({ enabled }) => enabled as boolean }),
  };
}

const known = new WeakMap<KnownKey, Settings>();

/** The settings of a key, once its history is complete. */
export function settingsOf(world: World, key: KnownKey): Settings {
  const settings = known.get(key) ?? readSettings(world, key);
  known.set(key, settings);
  return settings;
}

function readSettings(world: World, key: KnownKey): Settings {
  const ofKey = world.calls.filter((call) => call.key === key);
  const ofWorkspace = world.calls.filter(
    (call) => call.key === null && call.workspace === key.workspace,
  );
  const { apiId, roleId } = world.workspaceOf(key.workspace);
  const from = <Field extends keyof Settings>(field: Field, initial: unknown): never[] =>
    (key.origin === null ? [initial] : inherited(world, key.origin, field)) as never[];
  const expiries: readonly Expiry[] = from("expiry", NEVER);
  return {
    exists: {
      id: key.keyId,
      // If the store lost the creation of a key, the key may never have existed.
      initial: world.losses.some(({ ids }) => ids.has(key.keyId)) ? [true, false] : [true],
      setters: settersOf(ofKey, { deleteKey: () => false }),
    },
    isOn: {
      id: key.keyId,
      initial: from("isOn", true),
      setters: settersOf(ofKey, { switchKey: ({ enabled }) => enabled as boolean }),
    },
    allowList: {
      id: apiId,
      initial: [[]],
      setters: settersOf(ofWorkspace, { allowList: ({ ranges }) => ranges as readonly string[] }),
    },
    expiry: {
      id: key.keyId,
      initial: expiries,
      setters: expirySetters(ofKey, expiries, world),
    },
    own: {
      id: key.keyId,
      initial: from("own", []),
      setters: settersOf(ofKey, { grantWrite: ({ isGranted }) => (isGranted ? ["write"] : []) }),
    },
    ofRole: {
      id: roleId,
      initial: [["read"]],
      setters: key.setup.hasRole
        ? settersOf(ofWorkspace, { roleGrants: ({ names }) => names as readonly string[] })
        : settersOf([], {}),
    },
    name: {
      id: key.keyId,
      initial: from("name", undefined),
      setters: settersOf(ofKey, { renameKey: ({ name }) => name as string }),
    },
  };
}

/** The values that a successor may inherit from the rotated key. */
function inherited(
  world: World,
  { key, call }: NonNullable<KnownKey["origin"]>,
  field: keyof Settings,
): readonly unknown[] {
  const register: Register<unknown> = settingsOf(world, key)[field];
  const setters = register.setters.filter((setter) => setter.call !== call);
  return possibleValues({ ...register, setters }, call, world.losses);
}

function settersOf<Value>(
  calls: readonly Call[],
  actions: Readonly<Record<string, (args: Call["args"]) => Value>>,
): readonly Setter<Value>[] {
  return calls.flatMap((call) => {
    const read = actions[call.action];
    return read === undefined ? [] : [{ call, value: read(call.args) }];
  });
}

function expirySetters(
  calls: readonly Call[],
  initial: readonly Expiry[],
  { losses }: World,
): readonly Setter<Expiry>[] {
  const set = calls.flatMap((call): readonly Setter<Expiry>[] => {
    if (call.action !== "setExpires") return [];
    const inMs = call.args.inMs as number | null;
    const at = inMs === null ? Number.POSITIVE_INFINITY : call.startNow + inMs;
    return [{ call, value: { least: at, most: at } }];
  });
  // Enabling an expired key removes its expiry.
  const cleared = (setters: readonly Setter<Expiry>[]): readonly Setter<Expiry>[] =>
    calls
      .filter(({ action, args }) => action === "switchKey" && args.enabled === true)
      .filter(({ endNow }) =>
        [...initial, ...setters.map(({ value }) => value)].some(({ least }) => least <= endNow),
      )
      .map((call) => ({ call, value: NEVER, isSure: false }));
  const rotated = calls.flatMap((call): readonly Setter<Expiry>[] => {
    if (call.action !== "rotateKey") return [];
    const graceMs = call.args.graceMs as number;
    const before = possibleValues(
      { initial, setters: [...set, ...cleared(set)], id: call.key?.keyId ?? "" },
      call,
      losses,
    );
    // A rotation never extends the life of a key.
    const least = Math.min(call.leastNow + graceMs, ...before.map((value) => value.least));
    const most = Math.min(call.endNow + graceMs, Math.max(...before.map((value) => value.most)));
    return [{ call, value: { least, most } }];
  });
  const all = [...set, ...rotated];
  return [...all, ...cleared(all)];
}

/** Whether permissions satisfy a query. */
export function doSatisfy(held: readonly string[], query: PermissionQuery): boolean {
  if (typeof query !== "string")
    return "and" in query
      ? query.and.every((one) => doSatisfy(held, one))
      : query.or.some((one) => doSatisfy(held, one));
  return held.some(
    (name) => name === query || (name.endsWith(".*") && query.startsWith(name.slice(0, -1))),
  );
}

/** Whether an allow-list admits an IPv4 address; an empty list admits every address. */
export function doesLetIn(ranges: readonly string[], address: string): boolean {
  const numberOf = (text: string): number =>
    text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  if (ranges.length === 0) return true;
  return ranges.some((range) => {
    const [first = "", bits = "32"] = range.split("/");
    const offset = numberOf(address) - numberOf(first);
    return offset >= 0 && offset < 2 ** (32 - Number(bits));
  });
}
