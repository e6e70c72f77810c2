import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { ApiError } from "../lib/api.js";
import { Failure } from "./basics.js";

/** A dialog that is open as long as it is there. Escape closes it unless `isHeld`. */
export function Dialog({
  title,
  onClose,
  isHeld = false,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly isHeld?: boolean;
  readonly children: ComponentChildren;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const opener = document.activeElement;
    element.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        if (!isHeld) onClose();
      }}
      onKeyDown={(event) => {
        // A browser closes a dialog with the second Escape, whatever `cancel` says.
        if (event.key === "Escape" && isHeld) event.preventDefault();
      }}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}

/** A form that does something: shows what went wrong, and keeps what was typed. */
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
          <button type="button" onClick={onCancel}>
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

/** What is thrown that is no refusal of the server is about what was typed. */
function asApiError(failure: unknown): ApiError {
  if (failure instanceof ApiError) return failure;
  return new ApiError(
    400,
    "BAD_REQUEST",
    failure instanceof Error ? failure.message : String(failure),
  );
}

/** Asks before something is done, and says what it will do. */
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
