import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { go, useRoute, withQuery } from "../lib/router.js";

/** A form whose fields follow the query of the address, also after a step back; and whether the query sets any of them. */
export function useFollowing(names: readonly string[]) {
  const { query } = useRoute();
  const form = useRef<HTMLFormElement>(null);
  const given = names.map((name) => query[name] ?? "");
  useLayoutEffect(() => {
    form.current?.reset();
    // A reset returns a select to its first option.
    for (const choice of form.current?.querySelectorAll("select") ?? [])
      choice.value = query[choice.name] ?? "";
  }, [given.join("\0")]);
  return { form, isGiven: given.some(Boolean) };
}

/**
 * The filters of a list, stored in the address. The form stays in the page, with its focus, while the address changes, and its fields
 * follow.
 */
export function FilterForm({
  names,
  read,
  children,
  more,
}: {
  /** Names in the query of the address. */
  readonly names: readonly string[];
  readonly read: (form: FormData) => Readonly<Record<string, string | undefined>>;
  readonly children: ComponentChildren;
  /** Content after the button. */
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

/** A link to the same list without a filter. It then disappears, and the focus goes to the first field. */
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
