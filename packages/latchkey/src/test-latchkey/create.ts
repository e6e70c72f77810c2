import {
  type Clock,
  createLatchkey,
  type DefaultTypes,
  type KeyStore,
  type Latchkey,
  type LatchkeyOptions,
  type LatchkeyTypes,
  type MetaSchema,
  type TypesOf,
} from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { createTestClock, type TestClock, type TestInstant } from "./clock.js";
import { refuseUnknownFields } from "./known-fields.js";
import { createTestRandom } from "./random.js";
import { createRecorder, type EventRecorder } from "./recorder.js";
import { createSeed, type SeedFunction } from "./seed.js";
import { createFaultyStore, type FaultyStore } from "./store-faults.js";

/** Options of {@link createTestLatchkey}: those of createLatchkey, except the store and the clock. */
export interface TestLatchkeyOptions<
  Permission extends string = string,
  Ratelimit extends string = string,
  Meta extends MetaSchema | undefined = MetaSchema | undefined,
  IdentityMeta extends MetaSchema | undefined = MetaSchema | undefined,
> extends Omit<LatchkeyOptions<Permission, Ratelimit, Meta, IdentityMeta>, "store" | "clock"> {
  /**
   * When the test begins: time stands still until `clock` moves it. Or a clock, such as `() => Date.now()` with the fake timers of a test
   * runner. Default: 2025-01-01T00:00:00Z.
   */
  readonly now?: TestInstant | Clock;
}

/** A latchkey for tests of an application, and tools for them. */
export interface TestLatchkey<Types extends LatchkeyTypes = DefaultTypes> extends FaultyStore {
  readonly latchkey: Latchkey<Types>;
  /** Its in-memory store. Another latchkey on it acts as another process of the application. */
  readonly store: KeyStore;
  readonly clock: TestClock;
  readonly seed: SeedFunction;
  readonly recorder: EventRecorder;
}

/** All options. */
const OPTIONS: Readonly<Record<keyof TestLatchkeyOptions, true>> = {
  now: true,
  workspaceId: true,
  vault: true,
  pepper: true,
  tokens: true,
  random: true,
  maxCachedKeys: true,
  auditLog: true,
  notice: true,
  usage: true,
  leases: true,
  onEvent: true,
  onError: true,
  permissions: true,
  ratelimits: true,
  meta: true,
  identityMeta: true,
};

/** A date in the past, so that what an application dates by the real clock has not expired; a start of a day, an hour and a minute. */
const START = Date.UTC(2025, 0, 1);

/**
 * Creates a latchkey for tests of an application, on its own in-memory store, with a clock that the test moves, and with the same ids and
 * secrets in every run. Never use it in a server: its secrets can be predicted.
 *
 * @throws TypeError naming the wrong option and its bound.
 * @example
 * const { latchkey, clock, seed } = createTestLatchkey();
 * const { keys } = await seed({ apis: { tiles: {} }, keys: { reader: { api: "tiles", remaining: 1 } } });
 */
export function createTestLatchkey<
  const Permission extends string = string,
  const Ratelimit extends string = string,
  Meta extends MetaSchema | undefined = undefined,
  IdentityMeta extends MetaSchema | undefined = undefined,
>({
  now = START,
  ...options
}: TestLatchkeyOptions<Permission, Ratelimit, Meta, IdentityMeta> = {}): TestLatchkey<
  TypesOf<Permission, Ratelimit, Meta, IdentityMeta>
> {
  refuseUnknownFields(options, Object.keys(OPTIONS), "an option of createTestLatchkey");
  const { onEvent, onError, ...unheard } = options;
  for (const [name, listener] of Object.entries({ onEvent, onError }))
    if (listener !== undefined && typeof listener !== "function")
      throw new TypeError(`"${name}" must be a function`);
  const sound = memoryStore();
  const clock = createTestClock(now);
  const shared = { random: createTestRandom(), ...unheard, clock: clock.now };
  const { recorder, ...listeners } = createRecorder(onEvent, onError);
  const faulty = createFaultyStore(sound);
  return {
    ...faulty,
    latchkey: createLatchkey({ ...shared, ...listeners, store: faulty.store }),
    clock,
    // On the sound store itself, which does not fail, and without listeners.
    seed: createSeed(createLatchkey({ ...shared, store: sound }) as unknown as Latchkey),
    recorder,
  };
}
