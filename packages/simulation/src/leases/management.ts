import type { Moment } from "./clocks.js";
import type { Claims } from "./laws.js";
import type { LeaseProcess } from "./lease-process.js";
import type { ChangeOf, Known } from "./lease-store.js";
import type { World } from "./world.js";

/** How often a change is retried after a conflict with another change. */
const MOST_TRIES = 4;

/** Management calls. Each reads, commits, and resolves when every lease that might contradict it has ended. */
export class Management {
  readonly #world: World;
  readonly #onResolved: () => void;

  /** `onResolved`: called whenever a call resolves. */
  constructor(world: World, onResolved: () => void) {
    this.#world = world;
    this.#onResolved = onResolved;
  }

  make(caller: LeaseProcess, change: ChangeOf, tries = 0): void {
    const { store } = this.#world;
    this.#world.call(
      caller,
      () => store.read(),
      (known) => {
        if (known !== null) this.commit(caller, change, known, tries);
      },
    );
  }

  /** `known`: the records as read before. */
  commit(caller: LeaseProcess, change: ChangeOf, known: Known, tries = 0): void {
    const world = this.#world;
    const began = caller.clocks.read();
    const { wait } = known;
    if ("record" in change && known.versions[change.record] === undefined) {
      // Another call may have deleted it just now, and not have resolved yet.
      const span = world.has("deletion-repeated-resolves-at-once") ? 0 : wait;
      this.#wait(caller, began, span, { [change.record]: Number.POSITIVE_INFINITY });
      return;
    }
    const now = caller.clocks.now();
    world.call(
      caller,
      () => world.store.commit(change, known, now),
      (answer) => {
        world.tell(`${caller.name} ${JSON.stringify(change)}: ${answer?.kind ?? "no answer"}`);
        if (answer?.kind === "stale" && tries < MOST_TRIES) this.make(caller, change, tries + 1);
        // Without `done` the call rejects, and guarantees nothing. `add` does not wait: leases do not contradict a relative change.
        if (answer?.kind !== "done" || change.kind === "add") return;
        const since = world.has("wait-from-before-commit") ? began : caller.clocks.read();
        const span = this.#isAtOnce(change) ? 0 : wait;
        if (change.kind !== "stop") this.#wait(caller, since, span, answer.claims);
        else {
          const version = known.timesVersion + (known.grant > 0 ? 1 : 0);
          this.#after(caller, since, wait, () => this.#lower(caller, version, tries));
        }
      },
    );
  }

  #isAtOnce({ kind }: ChangeOf): boolean {
    const world = this.#world;
    if (kind === "repeat") return world.has("repeat-resolves-at-once");
    const isCounter = kind === "set" || kind === "reset";
    return world.has("no-wait") || (isCounter && world.has("set-does-not-wait"));
  }

  /** `version`: of the lease times when the wait began. If they have changed since, it waits again. */
  #lower(caller: LeaseProcess, version: number, tries: number): void {
    const world = this.#world;
    const work = () => {
      const known = world.store.read();
      const isBlind = world.has("ended-with-those-of-others");
      const timesVersion = isBlind ? known.timesVersion : version;
      return world.store.commit({ kind: "lower" }, { ...known, timesVersion }, 0);
    };
    world.call(caller, work, (answer) => {
      if (answer?.kind === "stale" && tries < MOST_TRIES)
        this.make(caller, { kind: "stop" }, tries + 1);
    });
  }

  #wait(caller: LeaseProcess, since: Moment, span: number, claims: Claims): void {
    this.#after(caller, since, span, () => {
      this.#world.tell(`resolved ${JSON.stringify(claims)}`);
      this.#world.observer.resolve(claims);
      this.#onResolved();
    });
  }

  /** Checks again after each timer, because a timer may fire early. */
  #after(caller: LeaseProcess, since: Moment, span: number, then: () => void): void {
    const world = this.#world;
    const now = caller.clocks.read();
    const byWall = world.has("wait-on-wall-clock");
    const gone = byWall ? now.wall - since.wall : now.steady - since.steady;
    if (gone >= span) then();
    else {
      const later = world.time + (byWall ? 1 : caller.clocks.truly(span - gone) + 1e-6);
      world.at(later, caller, () => this.#after(caller, since, span, then));
    }
  }
}
