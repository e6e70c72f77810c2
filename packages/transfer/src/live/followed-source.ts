import type { KeyStore } from "@latchkey/core";
import { withEach } from "../at-once.js";
import { workspacesOf } from "../passes/source.js";
import {
  assertUsed,
  changedByAnother,
  endLeases,
  type FoundState,
  isOnlyLeased,
  readState,
  replaceState,
} from "../state.js";
import { pause } from "../yield.js";
import { clearTrail, EMPTY_TRAIL, readTrail, type Trail } from "./trail.js";

/** A trail that is complete: no step can be added to it. */
interface ClosedTrail {
  readonly name: string;
  readonly trail: Trail;
}

/** The source of a live copy: all its workspaces are followed, until all have moved. */
export class FollowedSource {
  readonly #states = new Map<string, FoundState>();
  readonly #closed = new Map<string, ClosedTrail>();
  isFenced = false;

  private constructor(
    readonly store: KeyStore,
    readonly transfer: string,
  ) {}

  /**
   * @throws LatchkeyError `STORE_UNAVAILABLE` if a workspace is incomplete, or has moved to a store other than this transfer's
   * target.
   */
  static async follow(store: KeyStore, transfer: string): Promise<FollowedSource> {
    const source = new FollowedSource(store, transfer);
    await withEach(await workspacesOf(store), async (id) => {
      const found = await readState(store, id);
      const { state } = found;
      const isOwn = state?.state === "moved" && state.transfer === transfer;
      if (state !== null && !isOwn) assertUsed(id, state.state);
      source.isFenced ||= isOwn;
      source.#states.set(id, found);
    });
    if (source.isFenced) return source;
    await withEach(source.workspaces, async (id) => {
      // The trail of a dead process is not needed, because everything is compared.
      await source.nextTrail(id);
      await source.clear(id);
    });
    return source;
  }

  get workspaces(): readonly string[] {
    return [...this.#states.keys()].sort();
  }

  /**
   * Starts to follow workspaces, including new ones.
   *
   * @returns All.
   */
  async followNew(): Promise<readonly string[]> {
    for (const id of await workspacesOf(this.store)) {
      if (this.#states.has(id)) continue;
      this.#states.set(id, await readState(this.store, id));
      if (!this.isFenced) await this.#nextState(id);
    }
    return this.workspaces;
  }

  /** Starts another trail, and reads the one that this completes. */
  async nextTrail(id: string): Promise<Trail> {
    const name = this.#trailOf(id);
    await this.#nextState(id);
    return this.#close(id, name);
  }

  /** The trail as the fence left it; nothing if this process did not set the fence. */
  async lastTrail(id: string): Promise<Trail> {
    const closed = this.#closed.get(id);
    return closed === undefined ? EMPTY_TRAIL : this.#close(id, closed.name);
  }

  /** Deletes the trail that was read last. */
  async clear(id: string): Promise<void> {
    const closed = this.#closed.get(id);
    if (closed !== undefined) await clearTrail(this.store, id, closed.name, closed.trail);
    this.#closed.delete(id);
  }

  /**
   * Ends leases while the source still serves, so that unused units are returned before the fence. After it, nobody could say how
   * many of them were used.
   */
  async endLeases(): Promise<void> {
    let waitMs = 0;
    await withEach([...this.#states], async ([id, known]) => {
      const found = await readState(this.store, id);
      if (found.version !== known.version && !isOnlyLeased(known, found)) throw changedByAnother();
      if (found.leases === null) return;
      waitMs = Math.max(waitMs, found.leases.wait);
      if (found.leases.grant > 0) this.#states.set(id, await endLeases(this.store, id, found));
    });
    // Once for the leases, and once more for the returns.
    await waitFor(2 * waitMs);
  }

  /** Once this resolves, the source admits nothing: all leases have ended, too. */
  async fence(): Promise<void> {
    let waitMs = 0;
    await withEach([...this.#states], async ([id, found]) => {
      if (found.state?.state === "moved") return;
      const name = this.#trailOf(id);
      const state = { state: "moved", transfer: this.transfer } as const;
      const fenced = await replaceState(this.store, id, found, state);
      // A process may have taken these leases since endLeases ended all others.
      if (fenced.leases !== null && fenced.leases.grant > 0)
        waitMs = Math.max(waitMs, fenced.leases.wait);
      this.#states.set(id, fenced);
      this.#closed.set(id, { name, trail: EMPTY_TRAIL });
    });
    await waitFor(waitMs);
    this.isFenced = true;
  }

  /** @throws LatchkeyError `CONFLICT` if the fence is not there any more, as after a failover that lost it: the source would serve. */
  async assertFenced(): Promise<void> {
    await withEach([...this.#states], async ([id, fenced]) => {
      const found = await readState(this.store, id);
      if (found.version !== fenced.version && !isOnlyLeased(fenced, found))
        throw changedByAnother();
    });
  }

  async #close(id: string, name: string): Promise<Trail> {
    const trail = await readTrail(this.store, id, name);
    this.#closed.set(id, { name, trail });
    return trail;
  }

  async #nextState(id: string): Promise<void> {
    const found = this.#states.get(id) as FoundState;
    const trail = String(Number(this.#trailOf(id)) + 1);
    const state = { state: "followed", transfer: this.transfer, trail } as const;
    this.#states.set(id, await replaceState(this.store, id, found, state));
  }

  /** The trail's number. It only rises while the workspace is followed. */
  #trailOf(id: string): string {
    const state = this.#states.get(id)?.state;
    return state?.state === "followed" ? state.trail : "0";
  }
}

/** By the monotonic clock; a timer may fire early. */
async function waitFor(ms: number): Promise<void> {
  const since = performance.now();
  while (performance.now() - since < ms) await pause(ms);
}
