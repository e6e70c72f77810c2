import { Clocks, type Moment } from "./clocks.js";
import { COUNTERS_OF, type CounterName, type HeldUnits, type KeyName, tagAt } from "./counters.js";
import { HeldUnitsAhead, isUsable, type Lease } from "./held-units.js";
import type { Claims } from "./laws.js";
import { countWithin, type Known, LONGEST_MS, SHARE, SHORT_MS, type Taken } from "./lease-store.js";
import { CALM_AT, type Owner, type World } from "./world.js";

/** A lease is used for this part of its time: (1 - 0.11) / (1 + 0.11). */
const USED_PART = 0.8;

/** One verification. */
export interface Question {
  readonly key: KeyName;
  readonly cost: number;
  /** Versions that had resolved when it began. */
  readonly seen: Claims;
  tries: number;
}

/** Cached state for verifications of one key at one cost. Replaced when the records change. */
interface Plan {
  readonly key: KeyName;
  readonly cost: number;
  readonly known: Known;
  /** For a key without counters: clock readings of its last confirmation by the store. */
  permit: Moment | null;
  lease: Lease | null;
  isTaking: boolean;
  readonly waiting: (() => void)[];
  latest: Taken | null;
  asked: number;
  wanted: number;
}

/** A process that verifies keys, with leases or without. */
export class LeaseProcess implements Owner {
  readonly name: string;
  readonly clocks: Clocks;
  /** Lease time; null: it takes no leases. */
  readonly ms: number | null;
  readonly #world: World;
  isDead = false;
  isClosing = false;
  stoppedUntil = 0;
  /** The records as last read. */
  known: Known | null = null;
  readonly #plans = new Map<string, Plan>();
  readonly held: HeldUnitsAhead;
  #isAnnouncing = false;
  #hasBegun = false;
  #hasEnded = false;
  #earlier: Moment = { steady: 0, wall: 0 };

  constructor(world: World, name: string) {
    this.#world = world;
    this.name = name;
    this.clocks = new Clocks(world);
    this.held = new HeldUnitsAhead(world, this);
    this.ms = world.random.chance(90) ? world.random.pick([SHORT_MS, LONGEST_MS]) : null;
    const { sleepsAt, wakesAt } = this.clocks;
    if (sleepsAt < CALM_AT) world.at(sleepsAt, null, () => this.stopUntil(wakesAt));
  }

  stopUntil(time: number): void {
    this.stoppedUntil = Math.max(this.stoppedUntil, Math.min(time, CALM_AT));
  }

  noteClocks(): void {
    this.#earlier = this.clocks.read();
  }

  verify(key: KeyName, cost: number): void {
    const question = { key, cost, seen: { ...this.#world.observer.resolved }, tries: 0 };
    this.#consider(question);
  }

  #consider(question: Question): void {
    const { key, cost } = question;
    const plan = this.#plans.get(`${key} ${cost}`);
    if (plan === undefined) this.#load(question);
    else if (COUNTERS_OF[key].length === 0) this.#confirm(plan, question);
    else this.#charge(plan, question);
  }

  /** Reads the records, and tries again. Stops if the key is deleted. */
  #load(question: Question): void {
    question.tries += 1;
    if (question.tries > 4) return;
    this.#world.call(
      this,
      () => this.#world.store.read(),
      (known) => {
        if (known === null) return;
        this.#learn(question, known);
        if (known.versions[question.key] !== undefined) this.#consider(question);
      },
    );
  }

  #learn({ key, cost }: Question, known: Known): void {
    this.known = known;
    this.#plans.set(`${key} ${cost}`, {
      key,
      cost,
      known,
      permit: null,
      lease: null,
      isTaking: false,
      waiting: [],
      latest: null,
      asked: 0,
      wanted: 8,
    });
  }

  #stale(plan: Plan, question: Question, known: Known): void {
    this.known = known;
    const name = `${plan.key} ${plan.cost}`;
    if (this.#plans.get(name) === plan) this.#plans.delete(name);
    this.#load(question);
  }

  /** For a key without counters, a lease is a permit without units. */
  #confirm(plan: Plan, question: Question): void {
    if (plan.permit !== null && this.#isAlive(plan.permit)) {
      this.#decided(plan, question);
      return;
    }
    const asked = this.clocks.read();
    this.#ask(plan, null, null, (taken) => {
      if (taken === null) return;
      if (taken.kind === "stale") this.#stale(plan, question, taken.known);
      else if (this.#isLeasing(plan)) {
        plan.permit = this.#world.has("lease-from-reply") ? this.clocks.read() : asked;
        this.#hurry(plan);
      }
    });
  }

  #charge(plan: Plan, question: Question): void {
    if (plan.isTaking) {
      plan.waiting.push(() => this.#consider(question));
      return;
    }
    const { lease } = plan;
    if (lease !== null) {
      if (this.#decide(plan, lease, question)) return;
      this.#stop(plan, lease);
    }
    plan.asked += 1;
    const mayTake = this.#isLeasing(plan) && !this.isClosing && plan.asked > 1;
    const count = mayTake ? this.#countAhead(plan, lease) : 0;
    if (count < 2) this.#askAlone(plan, question, lease, null);
    else this.#take(plan, question, lease, count);
  }

  /** Whether a lease is still usable. The clock that has advanced further decides. */
  #isAlive(since: Moment): boolean {
    const world = this.#world;
    const now = world.has("clocks-read-earlier") ? this.#earlier : this.clocks.read();
    const end = (this.ms ?? 0) * (world.has("no-margin") ? 1 : USED_PART);
    const isBySteady = now.steady - since.steady < end || world.has("lease-on-wall-clock");
    return isBySteady && (now.wall - since.wall < end || world.has("lease-on-steady-clock"));
  }

  /** Whether leases may be taken on this plan: only after the lease time has been announced. */
  #isLeasing({ known: { revision } }: Plan): boolean {
    const { ms, known } = this;
    const world = this.#world;
    if (ms === null || known === null || known.revision !== revision) return false;
    if (world.has("not-announced")) return true;
    if (known.grant > 0) this.#hasBegun = true;
    else if (this.#hasBegun) this.#hasEnded = true;
    if (known.grant > 0 && world.has("announced-for-another")) return true;
    if (known.grant < ms) this.#announce(ms);
    return known.grant >= ms;
  }

  #announce(ms: number): void {
    if (this.#isAnnouncing || this.#hasEnded) return;
    this.#isAnnouncing = true;
    const { store } = this.#world;
    const end = () => {
      this.#isAnnouncing = false;
    };
    this.#world.call(this, () => store.commit({ kind: "announce", ms }, store.read(), 0), end);
  }

  /** Decides without the store. */
  #decide(plan: Plan, lease: Lease, question: Question): boolean {
    const world = this.#world;
    const { units, cost } = lease;
    if (lease.isReturning && !world.has("units-used-while-given-back")) return false;
    if (units === null || lease.used >= lease.count || !this.#isAlive(lease.since)) return false;
    const now = this.clocks.now();
    for (const { name, tag } of units) {
      const isUses = lease.due.has(name);
      const isOver = isUses ? tagAt(name, now) !== lease.due.get(name) : tagAt(name, now) > tag;
      if (isOver && !world.has(isUses ? "uses-past-a-refill" : "units-in-a-later-window"))
        return false;
      world.observer.checkUnit(name, tag, now);
    }
    this.#decided(plan, question, units);
    this.held.use(lease);
    for (const { name, epoch, tag } of units) world.observer.admit(name, epoch, tag, cost);
    return true;
  }

  #decided({ key, known }: Plan, { seen }: Question, units: readonly HeldUnits[] = []): void {
    const { versions, revision } = known;
    const rests: Record<string, number> = {
      revision,
      [key]: versions[key] ?? 0,
      id: versions.id ?? 0,
    };
    for (const { name, epoch } of units) rests[name] = epoch;
    this.#world.observer.decisions += 1;
    this.#world.observer.checkDecision(rests, seen);
    this.#world.tell(`${this.name} admits ${key} by itself`);
  }

  /** `ended`: lease that ends in the same step. */
  #ask(
    plan: Plan,
    lease: Lease | null,
    ended: Lease | null,
    then: (taken: Taken | null) => void,
  ): void {
    const { key, cost, known } = plan;
    const now = this.clocks.now();
    const ends = ended && this.held.closing(ended);
    const work = () => {
      const taken = this.#world.store.take({ key, cost, known, now, lease, ends });
      if (taken.kind === "taken") this.#world.onTaken(key);
      return taken;
    };
    this.#world.call(this, work, (taken) => {
      const what =
        lease === null ? "asks" : `takes #${lease.id}, ${lease.count} times ${lease.cost}`;
      this.#world.tell(`${this.name} ${what} of ${key}: ${taken?.kind ?? "no answer"}`);
      if (ended && ends) this.held.told(ended, ends, taken !== null && taken.kind !== "stale");
      then(taken);
    });
  }

  /**
   * Asks the store about one verification. After a refusal, leases that this process holds on the key go back, and it asks again.
   *
   * @param ended - Lease that ends in the same step.
   * @param returned - Leases that have been given back already; null: none yet.
   */
  #askAlone(
    plan: Plan,
    question: Question,
    ended: Lease | null,
    returned: readonly Lease[] | null,
  ): void {
    this.#ask(plan, null, ended, (taken) => {
      if (taken === null) return;
      if (taken.kind === "stale") {
        this.#stale(plan, question, taken.known);
        return;
      }
      plan.latest = taken;
      if (taken.kind !== "refused") return;
      const own = returned ?? this.held.of(plan.key);
      const mayGiveBack = returned === null && !this.#world.has("refused-beside-own-units");
      if (mayGiveBack && own.length > 0)
        this.held.giveAllBack(own, () => this.#askAlone(plan, question, null, own));
      else this.#world.observer.checkRefusal(own.filter(isUsable).length);
    });
  }

  /** How many verifications to take in advance, given the units left at the store's last answer. */
  #countAhead({ key, cost, latest, wanted }: Plan, ended: Lease | null): number {
    if (this.#world.has("more-than-its-share")) return wanted;
    if (latest?.kind !== "taken") return 0;
    const holders = this.held.others(key) + 1;
    const rest = this.held.of(key).filter((lease) => lease !== ended);
    const ours = rest.reduce((sum, lease) => sum + lease.cost * lease.count, 0);
    let count = wanted;
    for (const left of Object.values(latest.left))
      count = Math.min(count, countWithin(left, cost, ours, holders));
    return count;
  }

  #take(plan: Plan, question: Question, ended: Lease | null, count: number): void {
    const world = this.#world;
    const { key, cost } = plan;
    const now = this.clocks.now();
    const uses = COUNTERS_OF[key].filter((name) => name.endsWith("uses"));
    const lease: Lease = {
      id: world.newId(),
      key,
      cost,
      count,
      since: this.clocks.read(),
      due: new Map(uses.map((name) => [name, tagAt(name, now)])),
      units: null,
      used: 0,
      isReturning: false,
      tried: [],
    };
    plan.isTaking = true;
    this.held.note(lease.id);
    this.#ask(plan, lease, ended, (taken) => {
      plan.isTaking = false;
      this.#taken(plan, question, lease, taken);
      for (const go of plan.waiting.splice(0)) go();
    });
  }

  #taken(plan: Plan, question: Question, lease: Lease, taken: Taken | null): void {
    const world = this.#world;
    if (taken === null) {
      if (world.has("lost-answer-taken-for-no")) return;
      this.held.add(lease);
      if (world.has("lost-answer-taken-for-yes")) this.#beginUnsure(plan, lease);
      else this.held.giveBack(lease);
    } else if (taken.kind === "stale") this.#stale(plan, question, taken.known);
    else if (taken.kind === "refused") this.#askAlone(plan, question, null, null);
    else {
      lease.units = taken.units;
      if (world.has("lease-from-reply")) lease.since = this.clocks.read();
      this.held.add(lease);
      this.held.use(lease);
      if (world.has("first-not-counted")) lease.used = 0;
      for (const { name, epoch, tag } of taken.units)
        world.observer.admit(name, epoch, tag, lease.cost);
      plan.latest = taken;
      if (this.#isTooMuch(lease, taken.left)) this.held.giveBack(lease);
      else this.#begin(plan, lease);
    }
  }

  /** Acts as if the store had granted the lease. */
  #beginUnsure(plan: Plan, lease: Lease): void {
    const { epochs } = plan.known;
    lease.units = COUNTERS_OF[lease.key].map((name) => ({
      name,
      units: lease.cost * lease.count,
      tag: tagAt(name, this.clocks.now()),
      epoch: epochs[name] ?? 0,
    }));
    this.#begin(plan, lease);
  }

  /** Whether these units exceed the share of what was left, because others have taken units since the last answer. */
  #isTooMuch(
    { key, cost, count }: Lease,
    left: Extract<Taken, { kind: "taken" }>["left"],
  ): boolean {
    const isOld =
      this.#world.has("share-of-an-old-answer") || this.#world.has("more-than-its-share");
    const holders = this.held.others(key) + 1;
    for (const [name, rest] of Object.entries(left) as [CounterName, number][]) {
      const before = rest + cost * count;
      if (!isOld && countWithin(before, cost, 0, holders) < count) return true;
      this.#world.observer.checkShare(name, cost * count, Math.floor(before / SHARE));
    }
    return false;
  }

  #begin(plan: Plan, lease: Lease): void {
    const world = this.#world;
    plan.lease = lease;
    this.held.look(lease.key);
    this.#hurry(plan);
    world.at(world.time + this.clocks.truly(this.ms ?? 0), this, () => {
      if (plan.lease !== lease) return;
      this.#stop(plan, lease);
      this.held.giveBack(lease);
    });
  }

  #stop(plan: Plan, { used }: Lease): void {
    if (!this.#world.has("units-used-while-given-back")) plan.lease = null;
    plan.wanted = 2 * used;
    plan.asked = used > 1 ? 1 : 0;
  }

  /** The adversary verifies just before or just after a lease ends. */
  #hurry({ key, cost }: Plan): void {
    const world = this.#world;
    const { random } = world;
    if (world.isCalm) return;
    const end = world.time + this.clocks.truly((this.ms ?? 0) * USED_PART);
    if (random.chance(50))
      world.at(end - random.pick([0.02, 0.5, 3]), this, () => this.verify(key, cost));
    if (random.chance(50))
      world.at(end + random.pick([0.02, 0.5, 8]), this, () => this.verify(key, cost));
  }

  /** Stops taking leases, and gives all of them back, with one more attempt each. */
  close(): void {
    this.isClosing = true;
    for (const plan of this.#plans.values()) plan.lease = null;
    this.held.giveAllBack(this.held.all(), () => undefined);
  }
}
