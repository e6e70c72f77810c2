import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, sessionStore } from "./api.js";
import { useStore } from "./store.js";

/** A value that is loaded from the server. */
export interface Loaded<Value> {
  /** The last value. It stays while it is reloaded. */
  readonly value: Value | null;
  readonly error: ApiError | null;
  readonly reload: () => void;
}

/**
 * Loads a value when the page opens, when `question` changes, after a new sign-in, and every `everyMs` while the page is visible. An answer
 * to an older question is dropped. The timer does not repeat a request that is still running: an answer that takes longer than the interval
 * would never be shown.
 */
export function useLoad<Value>(
  question: string,
  read: () => Promise<Value>,
  everyMs?: number,
): Loaded<Value> {
  const [state, setState] = useState<{
    question: string;
    value: Value | null;
    error: ApiError | null;
  }>({ question, value: null, error: null });
  const [round, setRound] = useState(0);
  const isIn = useStore(sessionStore).kind === "in";
  const isReading = useRef(false);
  const latest = useRef(read);
  latest.current = read;
  useEffect(() => {
    if (!isIn) return undefined;
    let isCurrent = true;
    const whenCurrent = (set: () => void) => {
      if (!isCurrent) return;
      isReading.current = false;
      set();
    };
    isReading.current = true;
    latest.current().then(
      (value) => whenCurrent(() => setState({ question, value, error: null })),
      (error: ApiError) =>
        whenCurrent(() =>
          setState((before) => ({
            question,
            value: before.question === question ? before.value : null,
            error,
          })),
        ),
    );
    return () => {
      isCurrent = false;
      isReading.current = false;
    };
  }, [question, round, isIn]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const timer = setInterval(() => document.hidden || isReading.current || reload(), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, reload]);
  const isOther = state.question !== question;
  return { value: isOther ? null : state.value, error: isOther ? null : state.error, reload };
}
