import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { forgetLists, type List } from "../lib/list.js";
import { go, withQuery } from "../lib/router.js";
import { plural } from "../lib/words.js";
import { Failure, Waiting } from "./basics.js";

/** A column of a table. */
export interface Column<Item> {
  readonly title: string;
  readonly cell: (item: Item) => ComponentChildren;
  /** Where there is little room it is left out. */
  readonly isOptional?: boolean;
  readonly width?: string;
  readonly isNumber?: boolean;
}

const ROW_HEIGHT = 40;
/** Rows beyond what is seen, so that fast scrolling shows no gaps. */
const MARGIN = 12;
/** More than the tallest screen shows. */
const RECYCLED = 512;

/**
 * A list of any length, of which only the rows in sight are in the page. It reads on when its end comes near, and the address says
 * which page is in sight.
 */
export function ListTable<Item extends { readonly id: string }>({
  label,
  list,
  columns,
  empty,
}: {
  readonly label: string;
  readonly list: List<Item>;
  readonly columns: readonly Column<Item>[];
  readonly empty: ComponentChildren;
}) {
  const box = useRef<HTMLElement>(null);
  const [view, setView] = useState({ first: 0, last: 40 });
  const { items, isDone, isReading, error } = list;

  const look = () => {
    const element = box.current;
    if (element === null) return;
    list.scroll.top = element.scrollTop;
    const first = Math.max(0, Math.floor(element.scrollTop / ROW_HEIGHT) - MARGIN);
    const last = Math.ceil((element.scrollTop + element.clientHeight) / ROW_HEIGHT) + MARGIN;
    setView((before) =>
      before.first === first && before.last === last ? before : { first, last },
    );
  };

  useLayoutEffect(() => {
    if (box.current !== null) box.current.scrollTop = list.scroll.top;
    look();
  }, [list.scroll]);
  useEffect(() => {
    addEventListener("resize", look);
    return () => removeEventListener("resize", look);
  });
  useEffect(() => {
    if (view.last >= items.length - MARGIN && !isDone && !isReading && error === null)
      list.readMore();
  }, [view.last, items.length, isDone, isReading, error]);
  useEffect(() => {
    const firstSeen = view.first === 0 ? 0 : view.first + MARGIN;
    const page = list.pages.findLast(({ at }) => at <= firstSeen);
    if (page === undefined) return undefined;
    const timer = setTimeout(() => go(withQuery({ from: page.cursor }), "replace"), 200);
    return () => clearTimeout(timer);
  }, [view.first, list.pages]);

  if (items.length === 0 && isDone) return <>{empty}</>;
  const shown = items.slice(view.first, view.last);
  return (
    <>
      {list.pages[0]?.cursor !== undefined && (
        <p class="list-note">
          This list begins in its middle.{" "}
          <a
            href={withQuery({ from: undefined })}
            onClick={(event) => {
              event.preventDefault();
              go(withQuery({ from: undefined }), "replace");
              forgetLists();
            }}
          >
            Show it from the beginning
          </a>
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrolled from the keyboard, too */}
      <section class="table-box" ref={box} onScroll={look} tabIndex={0} aria-label={label}>
        <table aria-rowcount={isDone ? items.length + 1 : -1} style={leastWidth(columns)}>
          <thead>
            <tr>
              {columns.map(({ title, isOptional, width, isNumber }) => (
                <th
                  key={title}
                  scope="col"
                  class={classOf(isOptional, isNumber)}
                  style={width && { width }}
                >
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <Gap rows={view.first} columns={columns.length} />
            {shown.map((item, at) => (
              // Rows that leave the sight are used again for those that come into it.
              <tr key={(view.first + at) % RECYCLED} aria-rowindex={view.first + at + 2}>
                {columns.map(({ title, cell, isOptional, isNumber }) => (
                  <td key={title} class={classOf(isOptional, isNumber)}>
                    {cell(item)}
                  </td>
                ))}
              </tr>
            ))}
            <Gap rows={Math.max(0, items.length - view.last)} columns={columns.length} />
          </tbody>
        </table>
        {error !== null && <Failure error={error} retry={list.readMore} />}
        {error === null && !isDone && <Waiting lines={items.length === 0 ? 6 : 1} />}
      </section>
      <p class="list-end" aria-live="polite">
        {endText(list)}
      </p>
    </>
  );
}

/** Columns of a width would leave nothing to the one without. Where there is less room, the table scrolls. */
function leastWidth(columns: readonly Pick<Column<unknown>, "width">[]) {
  return { "--least-width": `calc(${columns.map(({ width = "12rem" }) => width).join(" + ")})` };
}

function endText({ items, total, isDone, damaged }: List<unknown>): string {
  const read = total === null || isDone ? `${items.length}` : `${items.length} of ${total}`;
  const lost = damaged === 0 ? "" : ` · ${plural(damaged, "damaged record")} left out`;
  return items.length === 0 && !isDone
    ? "\u00a0"
    : `${read} shown${isDone ? "" : ", more as you scroll"}${lost}`;
}

/** The height of rows that are not in the page. */
function Gap({ rows, columns }: { readonly rows: number; readonly columns: number }) {
  if (rows === 0) return null;
  return (
    <tr class="gap">
      <td colSpan={columns} style={{ height: `${rows * ROW_HEIGHT}px` }} />
    </tr>
  );
}

function classOf(isOptional = false, isNumber = false): string {
  return [isOptional ? "optional" : "", isNumber ? "number" : ""].filter(Boolean).join(" ");
}
