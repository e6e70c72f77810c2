/** A longer run, in ms, and over more keys, by the environment: it also prints what was measured. */
export const LONG_RUN_MS = process.env.LATCHKEY_LEASE_DRILL_MS;
const KEY_COUNT = Number(process.env.LATCHKEY_LEASE_DRILL_KEYS ?? "6");

/** How long leases are. In the short run a slow machine has more time to find that a key is in use. */
export const LEASE_MS: number = LONG_RUN_MS === undefined ? 200 : 100;

/** Of all limits, and a bucket holds half of it. Of many keys each is verified more seldom. */
export const LIMIT = 1_000;
export const WINDOW_MS: number = KEY_COUNT > 6 ? 60_000 : 1_000;

/** What uses that run out are raised by, now and then. */
export const RAISE = 500;

const limit = { limit: LIMIT, duration: WINDOW_MS };

/** What the keys are like that all processes verify. */
export const KINDS = {
  free: {},
  counted: { remaining: 100_000_000 },
  limited: { ratelimit: limit },
  scarce: { remaining: 2_000 },
  sliding: { ratelimit: { ...limit, algorithm: "sliding" } },
  bucket: { ratelimit: { ...limit, algorithm: "token-bucket", burst: LIMIT / 2 } },
} as const;

export type Kind = keyof typeof KINDS;

const NAMES = Object.keys(KINDS) as Kind[];

/** Of which kind each key is. */
export const KEYS: readonly Kind[] = Array.from(
  { length: KEY_COUNT },
  (_, at) => NAMES[at % NAMES.length] as Kind,
);

/** Verifications of a key, one after the other, before the next key has its turn. */
export const BATCH: number = KEY_COUNT > 6 ? 200 : 20;
