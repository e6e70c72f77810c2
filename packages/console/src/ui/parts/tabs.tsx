import { useRoute, withQuery } from "../lib/router.js";

/** Parts of a page, one of which is shown; which one is in the address. Links, so that each can be opened elsewhere. */
export function Tabs({
  tabs,
}: {
  readonly tabs: readonly (readonly [name: string, text: string])[];
}) {
  const { query } = useRoute();
  const current = query.tab ?? tabs[0]?.[0];
  return (
    <nav class="tabs" aria-label="Parts of this page">
      {tabs.map(([name, text], at) => (
        <a
          key={name}
          href={withQuery({ tab: at === 0 ? undefined : name, from: undefined, span: undefined })}
          aria-current={name === current ? "page" : undefined}
        >
          {text}
        </a>
      ))}
    </nav>
  );
}
