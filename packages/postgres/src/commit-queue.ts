import { rejectOverdue, type Waiting } from "./overdue.js";

/** Most changes of a workspace that are with the server: while one is carried out, the next are there already. */
const MOST_AT_ONCE = 3;

/** Changes of one workspace: how many are with the server, and those that wait. */
interface Turns {
  underWay: number;
  readonly waiting: (Waiting & { readonly begin: () => void })[];
}

/**
 * Changes of one workspace take turns in the server. Most of those that are asked for at once wait here instead: in the server each
 * would hold a connection that verifications need.
 */
export class CommitQueue {
  readonly #workspaces = new Map<string, Turns>();

  /**
   * What `send` answers, when the turn has come.
   *
   * @param timeoutMs - How long to wait for the turn.
   * @throws LatchkeyError `STORE_UNAVAILABLE` with the outcome `not-applied` when it came too late.
   */
  async add<Answer>(
    workspaceId: string,
    timeoutMs: number,
    send: () => Promise<Answer>,
  ): Promise<Answer> {
    const turns = this.#turnsOf(workspaceId);
    if (turns.underWay < MOST_AT_ONCE) turns.underWay += 1;
    else {
      const deadline = performance.now() + timeoutMs;
      await new Promise<void>((begin, reject) => {
        turns.waiting.push({ deadline, begin, reject });
      });
    }
    try {
      return await send();
    } finally {
      this.#beginNext(workspaceId, turns);
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

  /** Gives the turn of one that is over to the next. */
  #beginNext(workspaceId: string, turns: Turns): void {
    rejectOverdue(turns.waiting, "other changes of the workspace took too long");
    const next = turns.waiting.shift();
    if (next !== undefined) next.begin();
    else turns.underWay -= 1;
    if (turns.underWay === 0) this.#workspaces.delete(workspaceId);
  }
}
