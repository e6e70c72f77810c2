import type { PermissionQuery } from "@latchkey/core";
import type { Call, KnownKey } from "../history.js";
import type { World } from "../world/world.js";
import { hasLostChanges, possibleValues, type Register } from "./registers.js";
import { deletionsOf, settersOf, settingsOf, unlessRevived } from "./settings.js";

/** The answers to a query that a call may get while it runs: whether the key holds the permissions. */
export function answersTo(
  world: World,
  call: Call,
  key: KnownKey,
  query: PermissionQuery,
): readonly boolean[] {
  const seen = <Value>(register: Register<Value>) => possibleValues(register, call, world.losses);
  const { own, hasRole } = settingsOf(world, key);
  const roles = seen(hasRole).flatMap((is) => (is ? namesOfRole(world, call, key) : [[]]));
  const ceilings = seen(ceilingOf(world, key.workspace));
  const answers = seen(own).flatMap((direct) =>
    roles.flatMap((ofRole) =>
      ceilings.map((ceiling) =>
        doesSatisfy(
          query,
          (name) =>
            covers(direct, name) ||
            (covers(ofRole, name) && (ceiling === null || covers(ceiling, name))),
        ),
      ),
    ),
  );
  return [...new Set(answers)];
}

/** The permissions that the role may have: names that were set together, without those that may have been deleted since. */
function namesOfRole(world: World, call: Call, key: KnownKey): readonly (readonly string[])[] {
  const { workspace } = key;
  const { roleId } = world.workspaceOf(workspace);
  const calls = world.calls.filter((one) => one.key === null && one.workspace === workspace);
  const setters = unlessRevived(
    world,
    workspace,
    settersOf(world, calls, {
      roleGrants: ({ names }): readonly string[] => names as readonly string[],
      ensureRole: ({ names }): readonly string[] => names as readonly string[],
      deleteRole: () => [],
    }),
  );
  const initial: readonly (readonly string[])[] = [["read"]];
  const seen = <Value>(register: Register<Value>) => possibleValues(register, call, world.losses);
  /** Whether the role may have a name that was once set. */
  const isLeft = (name: string): readonly boolean[] => {
    const deletions = deletionsOf(world, workspace, name);
    if (deletions.length === 0) return [true];
    return seen({
      id: roleId,
      initial: initial.map((names) => names.includes(name)),
      setters: [
        ...setters.map((setter) => ({ ...setter, value: setter.value.includes(name) })),
        ...deletions.map((one) => ({
          call: one,
          value: false,
          isSure: !hasLostChanges(world.losses),
        })),
      ],
    });
  };
  return seen({ id: roleId, initial, setters }).flatMap((names) =>
    names.reduce<readonly (readonly string[])[]>(
      (sets, name) => isLeft(name).flatMap((is) => sets.map((set) => (is ? [...set, name] : set))),
      [[]],
    ),
  );
}

/** The permissions that keys of the API may have through roles; null: any. */
function ceilingOf(world: World, workspace: number): Register<readonly string[] | null> {
  const calls = world.calls.filter((one) => one.key === null && one.workspace === workspace);
  return {
    id: world.workspaceOf(workspace).apiId,
    initial: [null],
    setters: settersOf(world, calls, { ceiling: ({ names }) => names as readonly string[] | null }),
  };
}

function covers(held: readonly string[], name: string): boolean {
  return held.some(
    (one) => one === name || (one.endsWith(".*") && name.startsWith(one.slice(0, -1))),
  );
}

function doesSatisfy(query: PermissionQuery, isHeld: (name: string) => boolean): boolean {
  if (typeof query === "string") return isHeld(query);
  return "and" in query
    ? query.and.every((one) => doesSatisfy(one, isHeld))
    : query.or.some((one) => doesSatisfy(one, isHeld));
}
