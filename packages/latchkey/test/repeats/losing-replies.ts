import { type KeyStore, LatchkeyError } from "@latchkey/core";
import { wrapped } from "../wrapped-store.js";

const gone = (outcome: "unknown" | "not-applied") =>
  new LatchkeyError("STORE_UNAVAILABLE", "the connection was lost", { outcome });

/**
 * A store that a process loses forever with one of its writes: the reply is lost, or the write never arrives.
 *
 * @param at - Number of successful writes before.
 */
export function losingReplies(store: KeyStore, at: number, way: "lost" | "never came") {
  let count = 0;
  const isOver = () => count > at;
  async function writing<Result>(write: () => Promise<Result>): Promise<Result> {
    if (isOver()) throw gone("not-applied");
    count += 1;
    if (!isOver()) return write();
    if (way === "lost") await write();
    throw gone("unknown");
  }
  async function reading<Result>(read: () => Promise<Result>): Promise<Result> {
    if (isOver()) throw gone("not-applied");
    return read();
  }
  return {
    hasLost: isOver,
    store: wrapped(store, {
      commit: (...given) => writing(() => store.commit(...given)),
      deleteStatistics: (...given) => writing(() => store.deleteStatistics(...given)),
      read: (...given) => reading(() => store.read(...given)),
      page: (...given) => reading(() => store.page(...given)),
    }),
  };
}
