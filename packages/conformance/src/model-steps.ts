import fc from "fast-check";
import { chargeKind } from "./model-charge.js";
import { insertKeyKind, keyKinds, updateKeyKind } from "./model-key-steps.js";
import { identityKinds, tenantKinds } from "./model-tenant-steps.js";
import { commandsOf, type StepKind } from "./model-world.js";

const passingTime: StepKind<{ readonly ms: number }> = {
  title: "time passes",
  input: fc.record({
    ms: fc.constantFrom(1, 999, 1_000, 1_001, 60_000, 86_400_000, -1_000, -70_000),
  }),
  async run({ ms }, world) {
    world.now += ms;
    world.latest = Math.max(world.latest, world.now);
    return { actual: null, expected: null };
  },
};

/** Every method of the port; what keys and counters hang on comes more often than the rest. */
export const STEPS = [
  ...[...tenantKinds, ...identityKinds, ...keyKinds].map((step) =>
    commandsOf(step as StepKind<unknown>),
  ),
  ...Array.from({ length: 4 }, () => commandsOf(insertKeyKind)),
  ...Array.from({ length: 4 }, () => commandsOf(updateKeyKind)),
  ...Array.from({ length: 10 }, () => commandsOf(chargeKind)),
  commandsOf(passingTime),
];
