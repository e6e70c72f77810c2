import { Random } from "../random.js";
import { COUNTERS_OF, type KeyName, keyOf } from "./counters.js";
import type { Fault } from "./faults.js";
import { Violation } from "./laws.js";
import { LeaseProcess } from "./lease-process.js";
import { type ChangeOf, LONGEST_MS, type RecordName } from "./lease-store.js";
import { Management } from "./management.js";
import { CALM_AT, World } from "./world.js";

const KEYS = Object.keys(COUNTERS_OF) as readonly KeyName[];

/** One schedule of processes, verifications, changes and crashes. All of it follows from the seed. */
export class Schedule {
  readonly #world: World;
  readonly #random: Random;
  readonly #processes: LeaseProcess[] = [];
  readonly #management: Management;

  /** `tell`: receives the lines of the story; null: none. */
  constructor(seed: number, fault: Fault | null, tell: ((text: string) => void) | null) {
    this.#random = new Random(seed);
    this.#world = new World(this.#random, fault, tell);
    this.#management = new Management(this.#world, () => this.#askAfterResolving());
    // The adversary changes a key just when the store has granted a verification or a lease on it.
    this.#world.onTaken = (key) => this.#pounce(key);
  }

  /**
   * Runs until no events are left.
   *
   * @returns Number of verifications that processes decided without the store.
   * @throws {Violation} If a law is broken.
   */
  run(): number {
    const random = this.#random;
    const world = this.#world;
    for (let count = random.between(2, 3); count > 0; count -= 1)
      this.#startProcess(random.chance(30) ? random.below(250) : 0);
    for (let count = random.between(1, 5); count > 0; count -= 1)
      world.at(random.below(CALM_AT - 50), null, () => this.#manage());
    if (random.chance(25)) world.at(random.below(CALM_AT), null, () => this.#endLeasesOfOthers());
    const closes = random.chance(50);
    world.at(CALM_AT, null, () => {
      for (const process of closes ? this.#processes : [])
        world.at(CALM_AT, process, () => process.close());
    });
    world.run();
    this.#check();
    return world.observer.decisions;
  }

  /** `from`: earliest time of its first verification. */
  #startProcess(from: number): void {
    const random = this.#random;
    const world = this.#world;
    const process = new LeaseProcess(world, `p${this.#processes.length}`);
    this.#processes.push(process);
    for (let burst = random.between(2, 4); burst > 0; burst -= 1) {
      const begin = from + random.below(Math.min(CALM_AT - from - 30, random.pick([80, CALM_AT])));
      const key = random.pick(["k1", "k1", "k2", "k2", "k3", "k4", "k4"]);
      const gap = random.pick([0.5, 4, 12]);
      const cost = random.chance(80) ? 1 : 3;
      for (let call = random.between(4, 16); call > 0; call -= 1)
        world.at(begin + random.fraction() * gap * call, process, () => process.verify(key, cost));
    }
    if (random.chance(30)) {
      const span = random.below(180);
      world.at(random.below(CALM_AT), null, () => process.stopUntil(world.time + span));
    }
    if (random.chance(12))
      world.at(random.below(CALM_AT), null, () => {
        process.isDead = true;
      });
  }

  #manage(): void {
    const random = this.#random;
    const record = random.pick<RecordName>(["k1", "k2", "k3", "k4", "id"]);
    const uses = random.pick(["k1.uses", "k2.uses"]);
    const change = random.pick<ChangeOf>([
      { kind: "change", record },
      { kind: "change", record },
      { kind: "repeat", record },
      { kind: "revise" },
      { kind: "set", counter: uses, units: random.between(10, 70) },
      { kind: "add", counter: uses, units: random.pick([-20, -5, 10, 30]) },
      { kind: "reset", counter: random.pick(["k1.window", "k2.window", "k4.bucket"]) },
      random.chance(30) ? { kind: "delete", record: keyOf(uses) } : { kind: "change", record },
      random.chance(60) ? { kind: "stop" } : { kind: "revise" },
    ]);
    this.#begin(change, 0);
    if (change.kind === "change" && random.chance(50)) this.#begin({ kind: "repeat", record }, 40);
    if (change.kind === "delete") this.#begin(change, 40);
    if (change.kind !== "stop") return;
    this.#begin({ kind: "change", record }, 120);
    if (!random.chance(50)) return;
    // Another process starts to take leases, and they are ended again.
    this.#startProcess(Math.min(this.#world.time, CALM_AT - 200));
    this.#begin(change, 120);
  }

  #begin(change: ChangeOf, within: number): void {
    const caller = this.#random.pick(this.#processes);
    const time = this.#world.time + this.#random.fraction() * within;
    this.#world.at(time, caller, () => this.#management.make(caller, change));
  }

  #pounce(key: KeyName): void {
    if (this.#world.isCalm || !this.#random.chance(4)) return;
    const caller = this.#random.pick(this.#processes);
    const change = { kind: "change", record: key } as const;
    this.#world.at(this.#world.time, caller, () =>
      this.#management.commit(caller, change, this.#world.store.read()),
    );
  }

  #askAfterResolving(): void {
    if (this.#world.isCalm) return;
    for (const process of this.#processes)
      if (this.#random.chance(70)) {
        const time = this.#world.time + this.#random.pick([0.001, 0.2, 1]);
        this.#world.at(time, process, () => process.verify(this.#random.pick(KEYS), 1));
      }
  }

  /**
   * Ends leases as an operator's repair does, which takes their processes for dead. Leases on buckets must be old: otherwise their units
   * could flow in again, and be used later as well.
   */
  #endLeasesOfOthers(): void {
    const { store, time } = this.#world;
    const now = this.#random.pick(this.#processes).clocks.now();
    for (const key of KEYS)
      for (const { id, takenAt } of store.holds(key))
        if (key !== "k4" || time - takenAt >= 2 * LONGEST_MS) store.end(id, null, now);
  }

  /** E1, E3 and E4 at the end: only processes that died, or gave a lease up, still hold units, and only these units are lost. */
  #check(): void {
    const { store, observer } = this.#world;
    for (const hold of store.unreported()) {
      const owner = this.#processes.find(({ held }) => held.usedOf(hold.id) !== null);
      const used = owner?.held.usedOf(hold.id) ?? 0;
      const isOpen = store.holds(hold.key).includes(hold);
      if (isOpen && !owner?.held.mayKeep(hold.id))
        throw new Violation("E3", `#${hold.id} of ${owner?.name} was never given back`);
      for (const units of hold.units) observer.lose(units, units.units - used);
    }
    for (const counter of store.counters())
      observer.check(counter, store.heldOf(counter.name, counter.epoch));
  }
}
