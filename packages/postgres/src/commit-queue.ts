import { unavailable, withTimeout } from "@latchkey/core";

/** Most changes of a workspace in flight: while one runs, the next ones are already with the server. */
const MOST_AT_ONCE = 3;

/** Changes of one workspace: how many are in flight, and the callbacks that let waiting ones begin. */
interface Turns {
  underWay: number;
  readonly waiting: (() => void)[];
}

/**
 * Changes of one workspace take turns in the server. If there are many at once, most of them wait here, because in the server each would
 * hold a connection that verifications need.
 */
export class CommitQueue {
  readonly #workspaces = new Map<string, Turns>();

  /**
   * The result of `send`, called in turn.
   *
   * @param deadline - `performance.now()` until which to wait for the turn.
   * @throws LatchkeyError `STORE_UNAVAILABLE` with the outcome `not-applied` if the turn does not come by then.
   */
  async add<Answer>(
    workspaceId: string,
    deadline: number,
    send: () => Promise<Answer>,
  ): Promise<Answer> {
    const turns = this.#turnsOf(workspaceId);
    const beginNext = () => this.#beginNext(workspaceId, turns);
    if (turns.underWay < MOST_AT_ONCE) turns.underWay += 1;
    else
      await withTimeout(
        deadline - performance.now(),
        new Promise<void>((begin) => turns.waiting.push(begin)),
        () => unavailable("other changes of the workspace took too long"),
        undefined,
        beginNext,
      );
    try {
      return await send();
    } finally {
      beginNext();
    }
  }

  #turnsOf(workspaceId: string): Turns {
    let turns = this.#workspaces.get(workspaceId);
    if (turns === undefined) {
      turns = { underWay: 0, waiting: [] };
      this.#workspaces.set(workspaceId, turns);
    }
    return turns;
  }

  /** Passes the turn of a finished change to the next. */
  #beginNext(workspaceId: string, turns: Turns): void {
    const begin = turns.waiting.shift();
    if (begin !== undefined) begin();
    else turns.underWay -= 1;
    if (turns.underWay === 0) this.#workspaces.delete(workspaceId);
  }
}
