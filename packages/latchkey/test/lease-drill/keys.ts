/** Length of a longer run over more keys, in ms, from the environment. That run also prints its measurements. */
export const LONG_RUN_MS = process.env.LATCHKEY_LEASE_DRILL_MS;
const KEY_COUNT = Number(process.env.LATCHKEY_LEASE_DRILL_KEYS ?? "6");

/** Length of leases, in ms. In the short run, a slow machine has more time to recognise a key as in use. */
export const LEASE_MS: number = LONG_RUN_MS === undefined ? 200 : 100;

/** Of all limits; the burst of a bucket is half of it. With many keys, each is verified less often. */
export const LIMIT = 1_000;
export const WINDOW_MS: number = KEY_COUNT > 6 ? 60_000 : 1_000;

/** Occasional increment of uses that run out. */
export const RAISE = 500;

const limit = { limit: LIMIT, duration: WINDOW_MS };

/** Settings of the keys that all processes verify. */
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

/** The kind of each key. */
export const KEYS: readonly Kind[] = Array.from(
  { length: KEY_COUNT },
  (_, at) => NAMES[at % NAMES.length] as Kind,
);

/** Successive verifications of a key before the next key follows. */
export const BATCH: number = KEY_COUNT > 6 ? 200 : 20;
