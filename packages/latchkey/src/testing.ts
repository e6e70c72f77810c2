export type { TestClock, TestInstant, TestSpan } from "./test-latchkey/clock.js";
export {
  createTestLatchkey,
  type TestLatchkey,
  type TestLatchkeyOptions,
} from "./test-latchkey/create.js";
export type { EventOf, EventRecorder } from "./test-latchkey/recorder.js";
export type {
  ApiSeed,
  IdentitySeed,
  KeySeed,
  Seed,
  Seeded,
  SeedFunction,
} from "./test-latchkey/seed.js";
export type { StoreDelay, StoreFailure } from "./test-latchkey/store-faults.js";
