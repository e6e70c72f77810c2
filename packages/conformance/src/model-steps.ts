import fc from "fast-check";
import { chargeKind } from "./model-charge.js";
import { counterKinds } from "./model-counter-steps.js";
import { grantKinds } from "./model-grant-steps.js";
import { identityKinds } from "./model-identity-steps.js";
import { insertKeysKind, keyKinds, rotateKeyKind, updateKeyKind } from "./model-key-steps.js";
import { logKinds } from "./model-log-steps.js";
import { tenantKinds } from "./model-tenant-steps.js";
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

const KINDS = [
  ...tenantKinds,
  ...grantKinds,
  ...identityKinds,
  ...keyKinds,
  ...counterKinds,
  ...logKinds,
  // What is counted is read seldom enough.
  ...counterKinds,
];

/** Every method of the port; what keys and counters hang on comes more often than the rest. */
export const STEPS = [
  ...KINDS.map((step) => commandsOf(step as StepKind<unknown>)),
  ...Array.from({ length: 6 }, () => commandsOf(insertKeysKind)),
  ...Array.from({ length: 6 }, () => commandsOf(updateKeyKind)),
  ...Array.from({ length: 3 }, () => commandsOf(rotateKeyKind)),
  ...Array.from({ length: 14 }, () => commandsOf(chargeKind)),
  ...Array.from({ length: 2 }, () => commandsOf(passingTime)),
];
