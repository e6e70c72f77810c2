import { bindLists, type Latchkey, OPERATIONS, type Verifier } from "@latchkey/core";
import type { Attributes } from "@opentelemetry/api";
import type { Instruments } from "./instruments.js";
import { measure } from "./measure.js";
import { ATTRIBUTE } from "./names.js";

type Operation = (...args: readonly unknown[]) => unknown;

/** Creates the function that makes every operation of a latchkey a span and a measurement, in any workspace and for any actor. */
export function createMeasuring(instruments: Instruments): (latchkey: Latchkey) => Latchkey {
  // Keeps one wrapper per latchkey, so that `workspace` and `actingAs` return the same object again if latchkey does.
  const kept = new WeakMap<Latchkey, Latchkey>();
  return function measuring(latchkey) {
    const measured = kept.get(latchkey) ?? measuredOperations(latchkey, instruments, measuring);
    kept.set(latchkey, measured);
    return measured;
  };
}

/** `measuring`: wraps the latchkey of another workspace or actor. */
function measuredOperations(
  latchkey: Latchkey,
  instruments: Instruments,
  measuring: (other: Latchkey) => Latchkey,
): Latchkey {
  const measured = (name: string, run: Operation): Operation => {
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
    return (...args) => measure(measurement, () => run(...args));
  };
  const operations = Object.keys(OPERATIONS).map((name) => [
    name,
    measured(name, (latchkey as unknown as Record<string, Operation>)[name] as Operation),
  ]);
  const own: Latchkey = { ...latchkey, ...Object.fromEntries(operations) };
  return {
    ...own,
    // Bound again, so that they read each page with a measured operation.
    ...bindLists(own),
    verifier: (...question: Parameters<Latchkey["verifier"]>) =>
      measured("verifyKey", latchkey.verifier(...question) as Operation) as Verifier,
    workspace: (id: string) => measuring(latchkey.workspace(id)),
    actingAs: (actor: string) => measuring(latchkey.actingAs(actor)),
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
