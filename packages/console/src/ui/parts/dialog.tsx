import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../lib/api.js";
import { stayWhile } from "../lib/router.js";
import { withoutTurns } from "../lib/words.js";
import { Failure } from "./basics.js";

/**
 * A dialog that is open while it is rendered. Escape closes it, and a step back leaves its page, unless `isHeld`, or unless a form in it
 * waits for its answer: the call could not be cancelled any more, and a secret in the answer would be lost. Then the browser also asks
 * before it leaves the document, except with `losesNothing`.
 */
export function Dialog({
  title,
  onClose,
  isHeld = false,
  losesNothing = false,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly isHeld?: boolean;
  readonly losesNothing?: boolean;
  readonly children: ComponentChildren;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const isKept = () => isHeld || element.current?.querySelector("[aria-busy=true]") != null;
  // Not after a paint: until then, nothing would have the focus, neither before `showModal` nor after the dialog is gone. `close` returns
  // the focus to the element that had it when the dialog opened.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    const leave = stayWhile(isKept);
    const askFirst = (event: Event) => {
      if (!losesNothing && isKept()) event.preventDefault();
    };
    addEventListener("beforeunload", askFirst);
    return () => {
      removeEventListener("beforeunload", askFirst);
      leave();
      dialog?.close();
    };
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        if (!isKept()) onClose();
      }}
      onClose={({ currentTarget }) => {
        // A browser closes a dialog without asking if Escape is pressed twice, or at a back gesture.
        if (!currentTarget.isConnected) return;
        if (isKept()) currentTarget.showModal();
        else onClose();
      }}
    >
      <h2 id={titleId}>{withoutTurns(title)}</h2>
      {children}
    </dialog>
  );
}

/** A form that runs an action. It shows errors, and keeps the typed text. */
export function ActionForm({
  action,
  submit,
  isDangerous = false,
  onCancel,
  children,
}: {
  readonly action: (form: FormData) => Promise<void>;
  readonly submit: string;
  readonly isDangerous?: boolean;
  readonly onCancel?: () => void;
  readonly children?: ComponentChildren;
}) {
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const run = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isBusy) return;
    setIsBusy(true);
    setError(null);
    try {
      await action(new FormData(event.currentTarget as HTMLFormElement));
    } catch (failure) {
      setError(asApiError(failure));
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <form onSubmit={run}>
      <div class="form-body">{children}</div>
      {error !== null && <Failure error={error} />}
      <div class="form-end">
        {onCancel !== undefined && (
          <button type="button" aria-disabled={isBusy} onClick={() => isBusy || onCancel()}>
            Cancel
          </button>
        )}
        <button type="submit" class={isDangerous ? "primary danger" : "primary"} aria-busy={isBusy}>
          {submit}
        </button>
      </div>
    </form>
  );
}

/** Any error that does not come from the server is about the typed text. */
function asApiError(failure: unknown): ApiError {
  if (failure instanceof ApiError) return failure;
  return new ApiError(
    400,
    "BAD_REQUEST",
    failure instanceof Error ? failure.message : String(failure),
  );
}

/** Asks for confirmation of an action, and says what it will do. */
export function Confirm({
  title,
  submit,
  action,
  onClose,
  isDangerous = true,
  children,
}: {
  readonly title: string;
  readonly submit: string;
  readonly action: (form: FormData) => Promise<void>;
  readonly onClose: () => void;
  readonly isDangerous?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <ActionForm
        submit={submit}
        isDangerous={isDangerous}
        onCancel={onClose}
        action={async (form) => {
          await action(form);
          onClose();
        }}
      >
        {children}
      </ActionForm>
    </Dialog>
  );
}
