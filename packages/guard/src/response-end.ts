/** What says by an event that it is over: a response of Node, or a connection. */
interface Closing {
  readonly destroyed?: unknown;
  readonly closed?: unknown;
  readonly writableFinished?: unknown;
  /** Of HTTP/2. */
  readonly stream?: { readonly destroyed?: unknown } | undefined;
  on(event: "close" | "finish", listener: () => void): unknown;
  once(event: "close", listener: () => void): unknown;
  off(event: "close" | "finish", listener: () => void): unknown;
}

/** Listeners for the end of a connection. With a Node listener for each, a connection with many parallel requests would warn of a leak. */
const waiting = new WeakMap<Closing, Set<() => void>>();

/**
 * Calls `end` once a response of Node has ended: finished, closed, or aborted with its connection; at once if it has ended already. A
 * hijacked or upgraded one ends with its connection.
 *
 * @param request - With the socket that it came by.
 * @param response - Undefined where there is only a connection, as for an upgrade.
 * @returns False if neither reports its end: then `end` is not called.
 */
export function whenResponseEnds(
  request: { readonly socket?: unknown },
  response: unknown,
  end: () => void,
): boolean {
  const answer = closingOf(response);
  const connection = closingOf(request.socket);
  if (answer === null && connection === null) return false;
  if ((answer !== null && isOver(answer)) || connection?.destroyed === true) {
    end();
    return true;
  }
  const ended = (): void => {
    answer?.off("close", ended);
    answer?.off("finish", ended);
    if (connection !== null) waiting.get(connection)?.delete(ended);
    end();
  };
  answer?.on("close", ended);
  answer?.on("finish", ended);
  if (connection !== null) waitersOf(connection).add(ended);
  return true;
}

function waitersOf(connection: Closing): Set<() => void> {
  const known = waiting.get(connection);
  if (known !== undefined) return known;
  const waiters = new Set<() => void>();
  waiting.set(connection, waiters);
  connection.once("close", () => {
    for (const ended of waiters) ended();
  });
  return waiters;
}

function closingOf(value: unknown): Closing | null {
  const isEmitter =
    typeof value === "object" &&
    value !== null &&
    typeof (value as Partial<Closing>).once === "function" &&
    typeof (value as Partial<Closing>).off === "function";
  return isEmitter ? (value as Closing) : null;
}

function isOver({ destroyed, closed, writableFinished, stream }: Closing): boolean {
  return [destroyed, closed, writableFinished, stream?.destroyed].includes(true);
}
