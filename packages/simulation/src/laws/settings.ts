import type { ReportedLeaks } from "@latchkey/core";
import { type Call, type KnownKey, returnedBy } from "../history.js";
import { pickedKeys } from "../plan/many-keys-actions.js";
import type { World } from "../world/world.js";
import { settersOfManyKeys } from "./many-keys.js";
import { hasLostChanges, possibleValues, type Register, type Setter } from "./registers.js";
import { firstOf, sameWrites } from "./repeated-writes.js";

/** Bounds of the instant at which a key expires. Infinite: never. */
export interface Expiry {
  readonly least: number;
  readonly most: number;
}

/** The expiry of a key that never expires. */
export const NEVER: Expiry = { least: Number.POSITIVE_INFINITY, most: Number.POSITIVE_INFINITY };

/** The state that calls have set of a key and its API, field by field. */
export interface Settings {
  readonly exists: Register<boolean>;
  readonly isOn: Register<boolean>;
  readonly allowList: Register<readonly string[]>;
  readonly expiry: Register<Expiry>;
  /** Names of permissions granted to the key directly. */
  readonly own: Register<readonly string[]>;
  readonly hasRole: Register<boolean>;
  readonly name: Register<string | undefined>;
}

/** Whether a workspace is enabled; one that does not exist counts as enabled. */
export function isWorkspaceOn(world: World, index: number): Register<boolean> {
  const calls = world.calls.filter(({ key, workspace }) => key === null && workspace === index);
  return {
    id: world.workspaces[index]?.id ?? "",
    initial: [true],
    setters: settersOf(world, calls, { switchWorkspace: ({ enabled }) => enabled as boolean }),
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
  const { apiId } = world.workspaceOf(key.workspace);
  const picked = ofWorkspace.filter(
    ({ action, args, workspace }) =>
      action === "updateKeys" &&
      pickedKeys(world, workspace, args.picks as readonly number[]).includes(key),
  );
  const from = <Field extends keyof Settings>(field: Field, initial: unknown): never[] =>
    (key.origin === null ? [initial] : inherited(world, key.origin, field)) as never[];
  const expiries: readonly Expiry[] = from("expiry", NEVER);
  return {
    exists: {
      id: key.keyId,
      // If the store lost the creation of a key, the key may never have existed.
      initial: world.losses.some(({ ids }) => ids.has(key.keyId)) ? [true, false] : [true],
      setters: [
        ...settersOf(world, ofKey, { deleteKey: () => false }),
        ...settersOfLeaks(ofKey, "deleted"),
        ...ofKey
          .filter(({ action }) => action === "revokeOwn")
          .map((call) => ({ call, value: false, isSure: isEmptyAnswer(call) })),
        ...settersOfManyKeys(world, key, {
          deleteKeys: false,
          deleteOwner: false,
          eraseOwner: false,
        }),
        ...settersOf(world, ofWorkspace, { deleteApi: () => false }).map((setter) => ({
          ...setter,
          isSure: !hasLostChanges(world.losses),
        })),
      ],
    },
    isOn: {
      id: key.keyId,
      initial: from("isOn", true),
      setters: [
        ...settersOf(world, ofKey, { switchKey: ({ enabled }) => enabled as boolean }),
        ...settersOf(
          world,
          picked.filter(({ args }) => args.enabled === false),
          { updateKeys: () => false },
        ),
        ...settersOfLeaks(ofKey, "disabled"),
        ...settersOfManyKeys(world, key, {
          disableKeys: false,
          disableOwner: false,
          enableKeys: true,
        }),
      ],
    },
    allowList: {
      id: apiId,
      initial: [[]],
      setters: settersOf(world, ofWorkspace, {
        allowList: ({ ranges }) => ranges as readonly string[],
      }),
    },
    expiry: {
      id: key.keyId,
      initial: expiries,
      setters: expirySetters(ofKey, expiries, world),
    },
    own: {
      id: key.keyId,
      initial: from("own", []),
      setters: [
        ...unlessRevived(
          world,
          key.workspace,
          settersOf(world, ofKey, {
            grantWrite: ({ isGranted }) => (isGranted ? ["write"] : []),
            addWrite: ({ isGranted }) => (isGranted ? ["write"] : []),
          }),
        ),
        ...deletionsOf(world, key.workspace, "write")
          // A successor inherits what was left of the permissions.
          .filter((call) => key.origin === null || call.endTick > key.origin.call.startTick)
          .map((call) => ({ call, value: [], isSure: !hasLostChanges(world.losses) })),
      ],
    },
    hasRole: {
      id: key.keyId,
      initial: from("hasRole", key.setup.hasRole),
      setters: settersOf(world, ofKey, {
        setRole: ({ isGranted }) => isGranted as boolean,
        addRole: ({ isGranted }) => isGranted as boolean,
      }),
    },
    name: {
      id: key.keyId,
      initial: from("name", undefined),
      setters: [
        ...settersOf(world, ofKey, { renameKey: ({ name }) => name as string }),
        ...settersOf(
          world,
          picked.filter(({ args }) => args.name !== undefined),
          { updateKeys: ({ name }) => name as string },
        ),
      ],
    },
  };
}

/** What reports of a leaked key set of it: `done` is what they may say that they did. */
function settersOfLeaks(
  calls: readonly Call[],
  done: "disabled" | "deleted",
): readonly Setter<boolean>[] {
  return calls.flatMap((call): readonly Setter<boolean>[] => {
    if (call.action !== "reportLeak") return [];
    const { leaks: [leak] = [] } = returnedBy<ReportedLeaks>(call);
    if (leak === undefined) return [{ call, value: false, isSure: false }];
    // Since the first report, a disabled key may have been enabled again.
    const isSure = done === "deleted" || leak?.isRepeat === false;
    return leak?.action === done ? [{ call, value: false, isSure }] : [];
  });
}

/** Whether a call returned an empty object, which says that it did what it was asked to. */
function isEmptyAnswer({ outcome }: Call): boolean {
  return outcome.kind === "returned" && typeof outcome.value === "object";
}

/** The values that a successor may inherit from the rotated key. */
function inherited(
  world: World,
  { key, call }: NonNullable<KnownKey["origin"]>,
  field: keyof Settings,
): readonly unknown[] {
  const register: Register<unknown> = settingsOf(world, key)[field];
  return valuesAtRotation(world, register, call);
}

/** The values that a register may have when its record is rotated, apart from what the rotation sets. */
export function valuesAtRotation<Value>(
  world: World,
  register: Register<Value>,
  rotation: Call,
): readonly Value[] {
  const setters = register.setters.filter(({ call }) => call !== rotation);
  return possibleValues({ ...register, setters }, rotation, world.losses);
}

/** The expiry that a call sets. `inMs`: counted from its start; null: never. */
export function expiryIn(inMs: number | null, { startNow }: Call): Expiry {
  if (inMs === null) return NEVER;
  return { least: startNow + inMs, most: startNow + inMs };
}

/** The expiry of a key after its rotation: a rotation never extends its life. `span`: when the grace may end. */
export function expiryAfterRotation(before: readonly Expiry[], span: Expiry): Expiry {
  return {
    least: Math.min(span.least, ...before.map(({ least }) => least)),
    most: Math.min(span.most, Math.max(...before.map(({ most }) => most))),
  };
}

/** The calls that deleted a permission of a workspace, or looked for it to delete it. */
export function deletionsOf(world: World, workspace: number, name: string): readonly Call[] {
  return world.calls.filter(
    (call) =>
      call.action === "deletePermission" && call.workspace === workspace && call.args.name === name,
  );
}

/**
 * Setters of permissions, none of them sure if the store lost changes and permissions were deleted: where a deleted one is taken away,
 * nothing is written, and with the deletion this is lost as well.
 */
export function unlessRevived<Value>(
  world: World,
  workspace: number,
  setters: readonly Setter<Value>[],
): readonly Setter<Value>[] {
  const hasDeleted = world.calls.some(
    (call) => call.action === "deletePermission" && call.workspace === workspace,
  );
  if (!hasDeleted || !hasLostChanges(world.losses)) return setters;
  return setters.map((setter) => ({ ...setter, isSure: false }));
}

/** The values that calls set, by the names of their actions. */
export function settersOf<Value>(
  world: World,
  calls: readonly Call[],
  actions: Readonly<Record<string, (args: Call["args"]) => Value>>,
): readonly Setter<Value>[] {
  return calls.flatMap((call) => {
    const read = actions[call.action];
    // A repeat writes nothing, unless the first call did not.
    const isSure = firstOf(world, call) === call;
    return read === undefined ? [] : [{ call, value: read(call.args), isSure }];
  });
}

function expirySetters(
  calls: readonly Call[],
  initial: readonly Expiry[],
  world: World,
): readonly Setter<Expiry>[] {
  const set = calls.flatMap((call): readonly Setter<Expiry>[] => {
    if (call.action !== "setExpires") return [];
    return [{ call, value: expiryIn(call.args.inMs as number | null, call) }];
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
    const same = sameWrites(world, call);
    const [first] = same;
    const before = possibleValues(
      { initial, setters: [...set, ...cleared(set)], id: call.key?.keyId ?? "" },
      { startTick: first.startTick, endTick: call.endTick },
      world.losses,
    );
    const least = Math.min(...same.map(({ leastNow }) => leastNow)) + graceMs;
    const most = Math.max(...same.map(({ endNow }) => endNow)) + graceMs;
    const value = expiryAfterRotation(before, { least, most });
    return [{ call, value, isSure: first === call }];
  });
  const all = [...set, ...rotated];
  return [...all, ...cleared(all)];
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
