/** Something that reports its end by an event: a response of Node, or a connection. */
interface Closing {
  readonly destroyed?: unknown;
  readonly closed?: unknown;
  readonly writableFinished?: unknown;
  /** Only on HTTP/2. */
  readonly stream?: { readonly destroyed?: unknown } | undefined;
  on(event: "close" | "finish", listener: () => void): unknown;
  once(event: "close", listener: () => void): unknown;
  off(event: "close" | "finish", listener: () => void): unknown;
}

/**
 * Functions to call at the end of a connection, which has one Node listener for all of them: with a listener per request, Node would warn
 * of a leak on a connection with many parallel requests.
 */
const waiting = new WeakMap<Closing, Set<() => void>>();

/**
 * Calls `end` when a response of Node has ended: finished, closed, or aborted with its connection; at once if it has already ended. A
 * hijacked or upgraded response ends with its connection.
 *
 * @param request - The request; its socket is the connection.
 * @param response - Undefined if there is only a connection, as for an upgrade.
 * @returns False if neither reports its end: `end` is not called then.
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
