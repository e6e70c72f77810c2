import type { KeyStore } from "@latchkey/core";
import { copy, takeBack } from "@latchkey/transfer";
import type { Scheduler } from "./scheduler.js";
import type { StoreServer } from "./server.js";

/** What a move tells the world, and asks of it. */
interface MoveContext {
  readonly scheduler: Scheduler;
  readonly tell: (line: () => string) => void;
  /** Called before the old store is fenced. */
  readonly atFence: () => void;
  readonly hasDamaged: () => boolean;
  /** Called when the new store has all keys. */
  readonly moved: () => void;
  /** Called if it does not finish although nothing fails any more. */
  readonly failed: (why: string) => void;
}

/**
 * Moves all keys to another store while they are in use. Like an operator, it tries again after a failure.
 *
 * @returns A function that finishes the move, once nothing fails any more.
 */
export function moveKeys(
  from: StoreServer,
  to: StoreServer,
  linkTo: (server: StoreServer) => KeyStore,
  { scheduler, tell, atFence, hasDamaged, moved, failed }: MoveContext,
): () => Promise<void> {
  const [source, target] = [linkTo(from), linkTo(to)];
  const fencing: KeyStore = {
    ...source,
    commit: (id, change) => {
      if (change.puts.some(({ record }) => Object(record.body).state === "moved")) atFence();
      return source.commit(id, change);
    },
  };
  tell(() => "the keys of the store begin to move");
  const attempt = async (): Promise<void> => {
    await copy(fencing, target, { live: true });
    from.isMoved = true;
    const again = await copy(source, target, { live: true });
    if (again.wasComplete !== true) failed("the move was not seen to be complete");
    to.broken = from.broken;
    to.inherit(from.model);
    tell(() => "the keys of the store have moved");
    moved();
  };
  const first = attempt().then(
    () => true,
    (error: unknown) => {
      tell(() => `the keys did not move: ${String(error)}`);
      return false;
    },
  );
  return async () => {
    const moving = first
      .then((hasMoved) => (hasMoved ? undefined : attempt()))
      .catch((error: unknown) => {
        // Damaged records cannot be moved: the operator takes the keys back.
        if (!hasDamaged()) throw error;
        return takeBack(source, target);
      })
      .catch((error: unknown) => failed(String(error)));
    await scheduler.run();
    await moving;
  };
}
