import type { Random } from "../random.js";
import type { KeyName } from "./counters.js";
import { Events } from "./events.js";
import type { Fault } from "./faults.js";
import { Observer } from "./laws.js";
import { LeaseStore } from "./lease-store.js";

/** From this instant on, nothing fails any more. */
export const CALM_AT = 650;

/** How long a process waits for the store. */
const TIMEOUT = 60;

/** A process that events happen to. */
export interface Owner {
  readonly isDead: boolean;
  /** Real time. */
  readonly stoppedUntil: number;
  stopUntil(time: number): void;
  noteClocks(): void;
}

/** Real time, in ms, and a network that loses and delays messages. */
export class World {
  readonly random: Random;
  readonly observer = new Observer();
  readonly store: LeaseStore;
  readonly tell: (text: string) => void;
  readonly #fault: Fault | null;
  readonly #events = new Events<Owner>();
  time = 0;
  /** Called when the store has confirmed a key's records and granted what was asked. */
  onTaken: (key: KeyName) => void = () => undefined;
  #lastId = 0;

  /** `tell`: receives the lines of the story; null: none. */
  constructor(random: Random, fault: Fault | null, tell: ((text: string) => void) | null) {
    this.random = random;
    this.#fault = fault;
    this.tell =
      tell === null ? () => undefined : (text) => tell(`${this.time.toFixed(2)} ms  ${text}`);
    this.store = new LeaseStore(this.observer, fault, () => this.time);
  }

  /** Whether this fault is planted. */
  has(fault: Fault): boolean {
    return this.#fault === fault;
  }

  get isCalm(): boolean {
    return this.time >= CALM_AT;
  }

  newId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** `owner`: the process that the event happens to. The event waits while the process is stopped, and never happens once it is dead. */
  at(time: number, owner: Owner | null, run: () => void): void {
    this.#events.add(Math.max(time, this.time), owner, run);
  }

  /** Calls the store. The request and the answer are delayed, or lost. `then` receives null if no answer came in time. */
  call<Answer>(caller: Owner, work: () => Answer, then: (answer: Answer | null) => void): void {
    const { random } = this;
    let isDone = false;
    const finish = (answer: Answer | null) => {
      if (!isDone) then(answer);
      isDone = true;
    };
    if (this.isCalm || !random.chance(2))
      this.at(this.time + this.#delay(), null, () => {
        const answer = work();
        if (this.isCalm || !random.chance(4))
          this.at(this.time + this.#delay(), caller, () => finish(answer));
      });
    this.at(this.time + TIMEOUT, caller, () => finish(null));
    if (!this.isCalm && random.chance(4)) caller.stopUntil(this.time + random.fraction() * 140);
  }

  #delay(): number {
    const { random } = this;
    if (this.isCalm || random.chance(75))
      return random.pick([0.05, 0.2, 2]) * (1 + random.fraction());
    return random.fraction() * (random.chance(70) ? 25 : 160);
  }

  /** Runs events until none is left. */
  run(): void {
    for (;;) {
      const event = this.#events.next(Number.POSITIVE_INFINITY);
      if (event === null) return;
      const { owner } = event;
      this.time = event.time;
      if (owner?.isDead) continue;
      if (owner !== null && owner.stoppedUntil > this.time) {
        this.#events.add(owner.stoppedUntil, owner, event.run);
        continue;
      }
      event.run();
      owner?.noteClocks();
    }
  }
}
