/** Mistakes that can be planted in the protocol, with descriptions. The laws must detect each of them. */
export const FAULTS = {
  "no-wait": "a change resolves at once",
  "wait-from-before-commit": "a change counts its wait from before it was written",
  "wait-on-wall-clock": "a change measures its wait by a clock that may be set",
  "repeat-resolves-at-once": "a change that finds nothing to do resolves at once",
  "deletion-repeated-resolves-at-once": "a deletion that finds nothing resolves at once",
  "set-does-not-wait": "setting uses and resetting limits resolve at once",
  "lease-from-reply": "a lease starts when the store's answer arrives",
  "lease-on-wall-clock": "a lease ends only by the clock that may be set",
  "lease-on-steady-clock": "a lease ends only by the clock that stops while a machine sleeps",
  "no-margin": "a lease is used to its end, without a margin",
  "clocks-read-earlier": "clocks are read before a verification, not during it",
  "not-announced": "a process takes leases without announcing them",
  "announced-for-another":
    "a process takes longer leases than announced, because another process has announced some",
  "lease-times-not-expected": "a change does not confirm the lease times that it has read",
  "ended-at-once": "leases are ended without waiting for those still in use",
  "ended-under-the-same-revision": "ending leases keeps the revision",
  "ended-with-those-of-others":
    "leases are ended without checking for new ones meanwhile, which another call is ending",
  "revision-not-confirmed": "the store does not confirm the revision",
  "identity-not-confirmed": "the store does not confirm the identity",
  "units-used-while-given-back": "a lease is used while its rest is being returned",
  "first-not-counted": "the verification that took a lease does not count against it",
  "lost-answer-taken-for-yes": "a lease is used although its answer was lost",
  "lost-answer-taken-for-no": "a lease is forgotten because its answer was lost",
  "gives-back-once": "the rest of a lease is returned once, without a retry",
  "charge-taken-for-told":
    "a lease that ends with a charge is forgotten, whatever the store answers",
  "unknown-taken-for-done": "nothing is sent again for a lease that the store does not know yet",
  "never-gives-back": "nothing is returned",
  "gives-back-twice": "the store returns units again for a repeated request",
  "units-in-a-later-window": "units of a limit are used in a later window",
  "back-to-a-later-window": "units of a limit are returned to a later window",
  "uses-past-a-refill": "leased uses are used past a refill",
  "back-over-a-refill": "returned uses do not account for a refill since",
  "set-keeps-holds": "uses are returned although they were set meanwhile",
  "reset-keeps-holds": "units are returned although their limit was reset meanwhile",
  "bucket-fills-while-held": "a bucket fills to its burst while units of it are held",
  "bucket-fills-as-if-nothing-was-held":
    "when a lease ends, its bucket gets what would have flowed in if nothing had been held",
  "bucket-forgets-what-is-held": "a verification beside a lease forgets what is held of a bucket",
  "bucket-holds-what-was-used": "what was used of a lease counts as held of its bucket for ever",
  "ends-by-itself": "the store releases a lease when its time is over",
  "dead-give-back": "the whole lease of a process that seems dead is returned",
  "others-look-dead": "any process ends a lease when it first sees it",
  "more-than-its-share": "a process leases as much as it wants",
  "share-of-an-old-answer": "a process keeps more than its share if less was left than it knew",
  "refused-beside-own-units": "a process is refused while it holds units of the same key",
} as const satisfies Readonly<Record<string, string>>;

/** Conditions that no lease protocol can tolerate. The laws detect them too. */
export const BEYOND = {
  "clocks-beyond-the-margin": "clocks run 15 % too fast or too slow",
  "machine-paused-with-its-clocks": "a machine is paused together with all its clocks",
} as const satisfies Readonly<Record<string, string>>;

export type Fault = keyof typeof FAULTS | keyof typeof BEYOND;

export function isFault(name: string): name is Fault {
  return name in FAULTS || name in BEYOND;
}
