import { useRoute, withQuery } from "../lib/router.js";

/** Tabs of a page. The address names the current one. They are links, so that each can be opened elsewhere. */
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
