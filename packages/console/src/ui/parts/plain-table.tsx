import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Column } from "./table.js";

/** A short list, with all of its rows in the page. */
export function PlainTable<Item>({
  columns,
  items,
  idOf,
  actions,
}: {
  readonly columns: readonly Pick<Column<Item>, "title" | "cell" | "isOptional">[];
  readonly items: readonly Item[];
  readonly idOf: (item: Item) => string;
  /** What can be done with an item. */
  readonly actions: (item: Item) => ComponentChildren;
}) {
  return (
    <div class="table-box plain">
      <table>
        <thead>
          <tr>
            {columns.map(({ title, isOptional }) => (
              <th key={title} scope="col" class={isOptional ? "optional" : undefined}>
                {title}
              </th>
            ))}
            <th scope="col">
              <span class="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <Row key={idOf(item)}>
              {columns.map(({ title, cell, isOptional }) => (
                <td key={title} class={isOptional ? "optional" : undefined}>
                  {cell(item)}
                </td>
              ))}
              <td class="row-actions">{actions(item)}</td>
            </Row>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A row. When it goes it takes the button with it that had the focus: the page has it then. */
function Row({ children }: { readonly children: ComponentChildren }) {
  const row = useRef<HTMLTableRowElement>(null);
  useLayoutEffect(() => {
    const element = row.current;
    return () => element?.matches(":focus-within") && element.closest("main")?.focus();
  }, []);
  return <tr ref={row}>{children}</tr>;
}
