import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, sessionStore } from "./api.js";
import { useStore } from "./store.js";

/** Something that is read from the server. */
export interface Loaded<Value> {
  /** What was read last; it stays while it is read again. */
  readonly value: Value | null;
  readonly error: ApiError | null;
  readonly reload: () => void;
}

/**
 * Reads something when the page opens, when `question` changes, when somebody has signed in again, and every `everyMs` while the page
 * is looked at. An answer to an older question is dropped. What is still being read is not asked for again because time goes by: an
 * answer that takes longer than that would never be shown.
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
