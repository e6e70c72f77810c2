import { type ComponentChildren, createContext } from "preact";
import { useContext, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { PortalError } from "../client.js";
import { explain, isUncertain, type Words } from "./words.js";

/** The setting of all parts of the page. */
export interface Setting extends Words {
  /** The server's clock. */
  readonly now: () => number;
  /** The heading level below the title. */
  readonly Heading: "h2" | "h3";
  /** Called when the session is over. */
  readonly onOver: () => void;
  /** Called when the shown list may be outdated. */
  readonly onStale: () => void;
}

export const SettingContext = createContext<Setting | null>(null);

/** The current {@link Setting}. */
export function useSetting(): Setting {
  const setting = useContext(SettingContext);
  if (setting === null) throw new TypeError("no setting");
  return setting;
}

/**
 * A dialog that is open while it is rendered. Escape closes it unless `isHeld`, or unless a form in it waits for its answer: the call could
 * not be cancelled any more, and its answer would close whatever dialog is open by then. Then the browser also asks before it leaves the
 * document: a secret would be lost.
 */
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
  const { Heading } = useSetting();
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const isKept = () => isHeld || element.current?.querySelector("[aria-busy=true]") != null;
  // Not after a paint: until then, nothing would have the focus, neither before `showModal` nor after the dialog is gone. `close` returns
  // the focus to the element that had it when the dialog opened.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    const askFirst = (event: Event) => {
      if (isKept()) event.preventDefault();
    };
    addEventListener("beforeunload", askFirst);
    return () => {
      removeEventListener("beforeunload", askFirst);
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
      <Heading id={titleId}>{title}</Heading>
      {children}
    </dialog>
  );
}

/** Error codes which mean that a key is no longer as the list shows it. */
const STALE = ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"];

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
  readonly onCancel: () => void;
  readonly children?: ComponentChildren;
}) {
  const { texts, onOver, onStale } = useSetting();
  const [error, setError] = useState<PortalError | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const run = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isBusy) return;
    setIsBusy(true);
    setError(null);
    try {
      await action(new FormData(event.currentTarget as HTMLFormElement));
    } catch (failure) {
      const known = asPortalError(failure);
      if (known.code === "UNAUTHORIZED") onOver();
      else {
        setError(known);
        if (isUncertain(known) || STALE.includes(known.code)) onStale();
      }
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <form onSubmit={run}>
      {children}
      {error !== null && <Failure error={error} isWrite />}
      <div class="end">
        <button type="button" aria-disabled={isBusy} onClick={() => isBusy || onCancel()}>
          {texts.cancel}
        </button>
        <button type="submit" class={isDangerous ? "danger" : "primary"} aria-busy={isBusy}>
          {submit}
        </button>
      </div>
    </form>
  );
}

/** What went wrong, in words. */
export function Failure({
  error,
  retry,
  isWrite = false,
}: {
  readonly error: PortalError;
  /** Whether the call was a write. */
  readonly isWrite?: boolean;
  readonly retry?: () => void;
}) {
  const { texts } = useSetting();
  return (
    <div class="failure" role="alert">
      <p>{explain(error, texts, isWrite)}</p>
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          {texts.retry}
        </button>
      )}
    </div>
  );
}

/** A field with its label. */
export function Field({
  label,
  hint,
  children,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly children: (ids: {
    readonly id: string;
    readonly "aria-describedby"?: string;
  }) => ComponentChildren;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, ...(hint !== undefined && { "aria-describedby": `${id}-hint` }) })}
      {hint !== undefined && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

/** Shows a secret once. After that, it is nowhere in the page. Undefined: the answer with the secret was lost. */
export function SecretDialog({
  secret,
  onClose,
}: {
  readonly secret: string | undefined;
  readonly onClose: () => void;
}) {
  const { texts } = useSetting();
  const [state, setState] = useState<"shown" | "copied" | "failed">("shown");
  if (secret === undefined)
    return (
      <Dialog title={texts.secretLostTitle} onClose={onClose}>
        <p>{texts.secretLost}</p>
        <div class="end">
          <button type="button" class="primary" onClick={onClose}>
            {texts.continue}
          </button>
        </div>
      </Dialog>
    );
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(secret);
      setState("copied");
    } catch {
      setState("failed");
    }
  };
  return (
    <Dialog title={texts.secretTitle} onClose={onClose} isHeld>
      <p>{texts.secretHint}</p>
      <div class="secret">
        <output aria-label={texts.secret}>{secret}</output>
        <button type="button" class="primary" onClick={copy}>
          {state === "copied" ? texts.copied : texts.copy}
        </button>
      </div>
      <p class="soft" role="status">
        {state === "copied" ? texts.copied : state === "failed" ? texts.copyFailed : ""}
      </p>
      <div class="end">
        <button type="button" onClick={onClose}>
          {texts.secretDone}
        </button>
      </div>
    </Dialog>
  );
}

/** Turns any other error, which must be a bug of the page, into a PortalError. */
export function asPortalError(failure: unknown): PortalError {
  return failure instanceof PortalError ? failure : new PortalError(0, { message: `${failure}` });
}
