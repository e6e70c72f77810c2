import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { go, useRoute, withQuery } from "../lib/router.js";

/** A form whose fields say what the address says, also when it is gone back to; and whether that says anything. */
export function useFollowing(names: readonly string[]) {
  const { query } = useRoute();
  const form = useRef<HTMLFormElement>(null);
  const given = names.map((name) => query[name] ?? "");
  useLayoutEffect(() => {
    form.current?.reset();
    // Of a choice a reset knows only the first.
    for (const choice of form.current?.querySelectorAll("select") ?? [])
      choice.value = query[choice.name] ?? "";
  }, [given.join("\0")]);
  return { form, isGiven: given.some(Boolean) };
}

/**
 * Asks which of a list are shown; the answer goes into the address. It stays in the page, with its focus, while the address changes,
 * and its fields follow.
 */
export function FilterForm({
  names,
  read,
  children,
  more,
}: {
  /** What the form sets in the address. */
  readonly names: readonly string[];
  readonly read: (form: FormData) => Readonly<Record<string, string | undefined>>;
  readonly children: ComponentChildren;
  /** What stands behind the button. */
  readonly more?: ComponentChildren;
}) {
  const { form, isGiven } = useFollowing(names);
  return (
    <form
      class="filters"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        go(withQuery({ ...read(new FormData(event.currentTarget)), from: undefined }));
      }}
    >
      {children}
      <button type="submit">Find</button>
      {isGiven && <ClearLink names={names}>Clear</ClearLink>}
      {more}
    </form>
  );
}

/** Leads to the same list without a filter. It is gone then: the focus goes to the first field. */
export function ClearLink({
  names,
  children,
}: {
  readonly names: readonly string[];
  readonly children: ComponentChildren;
}) {
  const none = Object.fromEntries([...names, "from"].map((name) => [name, undefined]));
  return (
    <a
      href={withQuery(none)}
      onClick={() => document.querySelector<HTMLElement>(".filters input")?.focus()}
    >
      {children}
    </a>
  );
}
