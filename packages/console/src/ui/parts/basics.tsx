import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type ApiError, serverNow } from "../lib/api.js";
import { takeFocus } from "../lib/focus.js";
import { atMinute, exactly, fromNow } from "../lib/words.js";

/** An instant relative to now, with the exact one on hover. */
export function Instant({ at }: { readonly at: number | undefined }) {
  if (at === undefined) return <span class="faint">–</span>;
  return (
    <time dateTime={exactly(at)} title={`${atMinute(at)}\n${exactly(at)}`}>
      {fromNow(at, serverNow())}
    </time>
  );
}

/** An instant to the minute in the reader's time zone, with the exact one on hover. */
export function FullInstant({ at }: { readonly at: number }) {
  return (
    <time dateTime={exactly(at)} title={exactly(at)}>
      {atMinute(at)}
    </time>
  );
}

export type Tone = "good" | "bad" | "warn" | "plain";

/** A state in one or two words. */
export function Badge({
  tone,
  children,
}: {
  readonly tone: Tone;
  readonly children: ComponentChildren;
}) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** An error in words, with advice. */
export function Failure({
  error,
  retry,
}: {
  readonly error: ApiError;
  readonly retry?: () => void;
}) {
  if (error.code === "UNAUTHORIZED") return null;
  return (
    <div class="failure" role="alert">
      <p>
        <strong>{titleOf(error)}</strong> {error.message}
        {error.status >= 500 && error.requestId !== undefined && (
          <>
            {" "}
            <code>{error.requestId}</code>
          </>
        )}
      </p>
      {error.issues.length > 0 && (
        <ul>
          {error.issues.map(({ path, message }) => (
            <li key={path + message}>
              {path !== "" && <code>{path}</code>} {message}
            </li>
          ))}
        </ul>
      )}
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

function titleOf({ code, status }: ApiError): string {
  if (code === "OFFLINE") return "No connection.";
  if (code === "STORE_UNAVAILABLE") return "The store is down.";
  if (code === "INSUFFICIENT_PERMISSIONS") return "Not allowed.";
  if (code === "NOT_FOUND") return "Not found.";
  if (status >= 500) return "Something went wrong.";
  return "Refused.";
}

/** The message of an empty list, with advice. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** A button that copies a text and confirms it. */
export function CopyButton({
  text,
  label = "Copy",
}: {
  readonly text: string;
  readonly label?: string;
}) {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setIsCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setIsCopied(true);
    } catch {
      setIsCopied(false);
    }
  };
  return (
    <button type="button" class="copy" onClick={copy}>
      <span aria-live="polite">{isCopied ? "Copied" : label}</span>
    </button>
  );
}

/** An id, which can be copied. */
export function Id({ id }: { readonly id: string }) {
  return (
    <span class="id">
      <code>{id}</code>
      <CopyButton text={id} />
    </span>
  );
}

/** The head of a page: its place, its title, and its actions. */
export function PageHead({
  title,
  trail = [],
  children,
  note,
}: {
  readonly title: ComponentChildren;
  readonly trail?: readonly { readonly href: string; readonly text: string }[];
  readonly children?: ComponentChildren;
  readonly note?: ComponentChildren;
}) {
  const head = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => takeFocus(head.current), []);
  return (
    <header class="page-head">
      {trail.length > 0 && (
        <nav class="trail" aria-label="Path">
          {trail.map(({ href, text }) => (
            <a key={href} href={href}>
              {text}
            </a>
          ))}
        </nav>
      )}
      <div class="head-row">
        <h1 ref={head} tabIndex={-1}>
          {title}
        </h1>
        <div class="actions">{children}</div>
      </div>
      {note !== undefined && <div class="note">{note}</div>}
    </header>
  );
}

/** A page whose data could not be loaded. */
export function FailedPage({
  title,
  error,
  retry,
}: {
  readonly title: string;
  readonly error: ApiError;
  readonly retry: () => void;
}) {
  return (
    <>
      <PageHead title={title} />
      <Failure error={error} retry={retry} />
    </>
  );
}

/** Names and values. */
export function Facts({ children }: { readonly children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>;
}

/** One name and its value; renders nothing without a value. */
export function Fact({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}) {
  if (children === undefined || children === null || children === false) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Names, as a row of small marks. */
export function Names({
  names,
  none = "none",
}: {
  readonly names: readonly string[];
  readonly none?: string;
}) {
  if (names.length === 0) return <span class="faint">{none}</span>;
  return (
    <span class="names">
      {names.map((name) => (
        <code key={name}>{name}</code>
      ))}
    </span>
  );
}

/** Placeholder lines for content that is still loading. They reserve its space. */
export function Waiting({ lines = 3 }: { readonly lines?: number }) {
  return (
    <div class="waiting" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, at) => (
        <span key={at} />
      ))}
    </div>
  );
}
