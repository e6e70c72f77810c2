/** Mistakes that the protocol does not make, by what each of them does instead. The laws have to notice every one. */
export const FAULTS = {
  "no-wait": "a change resolves at once",
  "wait-from-before-commit": "a change waits from before it was written",
  "wait-on-wall-clock": "a change waits by a clock that may be set",
  "repeat-resolves-at-once": "a change that finds nothing to do resolves at once",
  "deletion-repeated-resolves-at-once": "a deletion that finds nothing resolves at once",
  "set-does-not-wait": "uses that are set, and limits that are reset, resolve at once",
  "lease-from-reply": "a lease begins when the store answers",
  "lease-on-wall-clock": "a lease ends by the clock that may be set alone",
  "lease-on-steady-clock":
    "a lease ends by the clock alone that stands still while a machine sleeps",
  "no-margin": "a lease is used for all of its time",
  "clocks-read-earlier": "clocks are read before a verification, and not in it",
  "not-announced": "a process leases without having said so",
  "announced-for-another":
    "a process leases for longer than was announced, since another has announced leases",
  "lease-times-not-expected": "a change does not expect the lease times that it knows",
  "ended-at-once": "leases are ended without waiting for those that are out",
  "ended-under-the-same-revision": "leases are ended under the same revision",
  "ended-with-those-of-others":
    "leases are ended without looking whether there were new ones meanwhile, which another call is ending",
  "revision-not-confirmed": "the store does not confirm the revision",
  "identity-not-confirmed": "the store does not confirm the identity",
  "units-used-while-given-back": "a lease is used until the store has heard how much of it was",
  "first-not-counted": "the verification that took a lease is not counted as one of it",
  "lost-answer-taken-for-yes": "a lease is used of which nobody knows whether it was taken",
  "lost-answer-taken-for-no": "a lease is forgotten of which nobody knows whether it was taken",
  "gives-back-once": "the store is told only once what was used",
  "charge-taken-for-told":
    "a lease that ends in the step of a charge is forgotten, whatever the store answers",
  "unknown-taken-for-done": "nothing is told again of a lease that the store does not know yet",
  "never-gives-back": "nothing is given back",
  "gives-back-twice": "the store gives back again when it is told again",
  "units-in-a-later-window": "units of a limit are used in a later window",
  "back-to-a-later-window": "units of a limit come back to a later window",
  "uses-past-a-refill": "uses are used past a refill",
  "back-over-a-refill": "uses that come back do not pay for a refill since",
  "set-keeps-holds": "uses come back although they were set meanwhile",
  "reset-keeps-holds": "units come back although their limit was reset meanwhile",
  "ends-by-itself": "a lease whose time is over is released by the store",
  "dead-give-back": "of the lease of a process that seems dead, all comes back",
  "others-look-dead": "a lease is ended by whoever sees it for the first time",
  "more-than-its-share": "a process takes as much ahead as it wants",
  "share-of-an-old-answer": "a process keeps more than its share when less was left than it knew",
  "refused-beside-own-units": "a process is refused while it holds units of the same key",
} as const satisfies Readonly<Record<string, string>>;

/** Faults of the world that no leases can bear: they are found as well. */
export const BEYOND = {
  "clocks-beyond-the-margin": "clocks run 15 % too fast or too slow",
  "machine-paused-with-its-clocks": "a machine is paused together with all its clocks",
} as const satisfies Readonly<Record<string, string>>;

export type Fault = keyof typeof FAULTS | keyof typeof BEYOND;

export function isFault(name: string): name is Fault {
  return name in FAULTS || name in BEYOND;
}
