import type { ComponentChildren } from "preact";
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
  /** The actions on an item. */
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
            <tr key={idOf(item)}>
              {columns.map(({ title, cell, isOptional }) => (
                <td key={title} class={isOptional ? "optional" : undefined}>
                  {cell(item)}
                </td>
              ))}
              <td class="row-actions">{actions(item)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
