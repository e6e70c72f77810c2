import {
  type Latchkey,
  LIST_MAKERS,
  lazyMembers,
  type MemberMakers,
  OPERATIONS,
  type Verifier,
} from "@latchkey/core";
import type { Attributes } from "@opentelemetry/api";
import type { Instruments } from "./instruments.js";
import { measure } from "./measure.js";
import { ATTRIBUTE } from "./names.js";

type Operation = (...args: readonly unknown[]) => unknown;

/** Creates the function that makes every operation of a latchkey a span and a measurement, in any workspace and for any actor. */
export function createMeasuring(instruments: Instruments): (latchkey: Latchkey) => Latchkey {
  // Keeps one wrapper per latchkey, so that `workspace` and `actingAs` return the same object again if latchkey does.
  const kept = new WeakMap<Latchkey, Latchkey>();
  let makers: MemberMakers<Latchkey, Latchkey> | undefined;
  return function measuring(latchkey) {
    makers ??= createMakers(latchkey, instruments, measuring);
    const measured = kept.get(latchkey) ?? lazyMembers(makers, latchkey);
    kept.set(latchkey, measured);
    return measured;
  };
}

/** How the members of any measured latchkey are made. Those that are not measured stay. `measuring`: wraps another one. */
function createMakers(
  some: Latchkey,
  instruments: Instruments,
  measuring: (other: Latchkey) => Latchkey,
): MemberMakers<Latchkey, Latchkey> {
  const measured = (latchkey: Latchkey, name: string, run: unknown): Operation => {
    const labels = { [ATTRIBUTE.operation]: name };
    const measurement = {
      tracer: instruments.tracer,
      duration: () => instruments.meters().operationDuration,
      name: `latchkey.${name}`,
      labels,
      attributes: { ...labels, [ATTRIBUTE.workspaceId]: latchkey.workspaceId },
      onAnswer: (answer: unknown) =>
        name === "verifyKey" || name === "reserve"
          ? describeVerdict(answer, instruments.keyIds)
          : {},
    };
    return (...args) => measure(measurement, () => (run as Operation)(...args));
  };
  const makers = Reflect.ownKeys(some).map((name) => {
    const isMeasured = typeof name === "string" && Object.hasOwn(OPERATIONS, name);
    return [
      name,
      (latchkey: Latchkey) => {
        const member: unknown = Reflect.get(latchkey, name);
        return isMeasured ? measured(latchkey, name, member) : member;
      },
    ];
  });
  return {
    ...(Object.fromEntries(makers) as MemberMakers<Latchkey, Latchkey>),
    // They read each page with a measured operation.
    ...LIST_MAKERS,
    verifier:
      (latchkey) =>
      (...question) =>
        measured(latchkey, "verifyKey", latchkey.verifier(...question)) as Verifier,
    workspace: (latchkey) => (id) => measuring(latchkey.workspace(id)),
    actingAs: (latchkey) => (actor) => measuring(latchkey.actingAs(actor)),
  };
}

/** The attributes of a verdict: its code, its API and, with `keyIds`, its key. */
function describeVerdict(answer: unknown, keyIds: boolean): Attributes {
  const { code, apiId, keyId } = answer as Readonly<Record<string, string | undefined>>;
  return {
    ...(code !== undefined && { [ATTRIBUTE.code]: code }),
    ...(apiId !== undefined && { [ATTRIBUTE.apiId]: apiId }),
    ...(keyIds && keyId !== undefined && { [ATTRIBUTE.keyId]: keyId }),
  };
}
