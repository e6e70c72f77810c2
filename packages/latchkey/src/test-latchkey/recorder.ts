import type {
  AuditType,
  ChangeEvent,
  ErrorListener,
  EventListener,
  LatchkeyEvent,
} from "@latchkey/core";

/** The event of a type. */
export type EventOf<Type extends LatchkeyEvent["type"]> = Type extends AuditType
  ? ChangeEvent & { readonly type: Type }
  : Extract<LatchkeyEvent, { readonly type: Type }>;

/** The events of a latchkey under test, in order, without those of seeding. */
export interface EventRecorder {
  /** The events since the beginning, or since `clear`. */
  readonly events: readonly LatchkeyEvent[];
  /** What was reported to `onError`: failures that no caller waits for. */
  readonly errors: readonly unknown[];
  /** The events of one type. */
  of<Type extends LatchkeyEvent["type"]>(type: Type): readonly EventOf<Type>[];
  /** Clears events and errors. */
  clear(): void;
}

/** A recorder, and the listeners that feed it: each passes on to the host's own. */
export interface RecorderWithListeners {
  readonly recorder: EventRecorder;
  readonly onEvent: EventListener;
  readonly onError: ErrorListener;
}

/** Makes a recorder. */
export function createRecorder(
  onEvent: EventListener | undefined,
  onError: ErrorListener | undefined,
): RecorderWithListeners {
  let events: LatchkeyEvent[] = [];
  let errors: unknown[] = [];
  return {
    recorder: {
      get events() {
        return events;
      },
      get errors() {
        return errors;
      },
      of: <Type extends LatchkeyEvent["type"]>(type: Type) =>
        events.filter((event): event is EventOf<Type> => event.type === type),
      clear: () => {
        events = [];
        errors = [];
      },
    },
    onEvent: (event) => {
      events.push(event);
      return onEvent?.(event);
    },
    onError: (error) => {
      errors.push(error);
      return onError?.(error);
    },
  };
}
