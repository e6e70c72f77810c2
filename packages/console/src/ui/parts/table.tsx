import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { forgetLists, isInVain, type List } from "../lib/list.js";
import { go, withQuery } from "../lib/router.js";
import { figure, plural } from "../lib/words.js";
import { Failure, Waiting } from "./basics.js";

/** A column of a table. */
export interface Column<Item> {
  readonly title: string;
  readonly cell: (item: Item) => ComponentChildren;
  /** Whether it is left out if there is little room. */
  readonly isOptional?: boolean;
  readonly width?: string;
  readonly isNumber?: boolean;
}

const ROW_HEIGHT = 40;
/** Rows rendered beyond the visible ones, so that fast scrolling shows no gaps. */
const MARGIN = 12;
/** Number of keys for rows: more than the tallest screen shows. */
const RECYCLED = 512;

/**
 * A list of any length. Only the visible rows are in the page. It loads more when its end comes near, and the address names the visible
 * page. The status of the list is above it, where it does not move while rows load.
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
  const { items, isDone, isReading, isOld, error } = list;
  const isStuck = isInVain(list);
  // The cursor in the address is invalid.
  const isLost = error?.code === "BAD_REQUEST" && items.length === 0 && list.next !== null;

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
    const isNear = view.last >= items.length - MARGIN;
    if (isNear && !isDone && !isReading && !isStuck && error === null) list.readMore();
  }, [view.last, items.length, isDone, isReading, isStuck, error]);
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
      {(list.pages[0]?.cursor !== undefined || isLost) && (
        <p class="list-note">
          {isLost
            ? "The address contains no valid position in this list."
            : "This list does not start at the beginning."}{" "}
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
      <div class="list-end">
        <p aria-live="polite">{endText(list, label)}</p>
        {isStuck && <LookOn list={list} box={box} />}
      </div>
      <section
        class="table-box"
        ref={box}
        onScroll={look}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrolled from the keyboard, too
        tabIndex={0}
        aria-label={label}
        aria-busy={isOld}
        style={{ "--rows": items.length }}
      >
        <table aria-rowcount={isDone ? items.length + 1 : -1} style={leastWidth(columns)}>
          <thead>
            <tr>
              {columns.map(({ title, isOptional, width, isNumber }) => (
                <th
                  key={title}
                  scope="col"
                  class={classOf(isOptional, isNumber)}
                  style={width && { "--width": width }}
                >
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <Gap rows={view.first} />
            {shown.map((item, at) => (
              // Rows that leave the view are reused for those that enter it.
              <tr key={(view.first + at) % RECYCLED} aria-rowindex={view.first + at + 2}>
                {columns.map(({ title, cell, isOptional, isNumber }) => (
                  <td key={title} class={classOf(isOptional, isNumber)}>
                    {cell(item)}
                  </td>
                ))}
              </tr>
            ))}
            <Gap rows={Math.max(0, items.length - view.last)} />
          </tbody>
        </table>
        {error !== null && <Failure error={error} retry={list.readMore} />}
        {error === null && !isDone && (isReading || !isStuck) && (
          // Separate keys: the placeholder must not be moved below the rows when they appear.
          <Waiting key={items.length === 0 ? "all" : "more"} lines={items.length === 0 ? 6 : 1} />
        )}
      </section>
    </>
  );
}

/** Minimum width: columns with a fixed width would leave nothing to the one without. If there is less room, the table scrolls. */
function leastWidth(columns: readonly Pick<Column<unknown>, "width">[]) {
  return { "--least-width": `calc(${columns.map(({ width = "12rem" }) => width).join(" + ")})` };
}

/** A button to continue after many pages without a match. Once something is found, the list takes the focus from it. */
function LookOn({
  list,
  box,
}: {
  readonly list: List<unknown>;
  readonly box: RefObject<HTMLElement | null>;
}) {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const element = button.current;
    return () => element?.matches(":focus") && box.current?.focus();
  }, []);
  return (
    <button ref={button} type="button" onClick={list.readMore} aria-busy={list.isReading}>
      {list.isReading ? "Searching…" : "Keep searching"}
    </button>
  );
}

function endText(list: List<unknown>, label: string): string {
  const { items, total, isDone, isOld, damaged, scanned } = list;
  const lost = damaged === 0 ? "" : ` · ${plural(damaged, "damaged record")} skipped`;
  if (isInVain(list)) {
    const found = items.length === 0 ? "none" : figure(items.length);
    const looked = scanned === null ? "" : ` ${figure(scanned)} ${label.toLowerCase()}`;
    return `Searched${looked} so far: ${found} found${lost}`;
  }
  if (list.error !== null && items.length === 0) return "";
  if (isOld || (items.length === 0 && !isDone)) return "Loading…";
  const read = figure(items.length);
  const shown = total === null || isDone ? read : `${read} of ${figure(total)}`;
  return `${shown} shown${isDone ? "" : ", more as you scroll"}${lost}`;
}

/** Takes the height of rows that are not in the page. One cell: a span of all columns would count those that a phone leaves out. */
function Gap({ rows }: { readonly rows: number }) {
  if (rows === 0) return null;
  return (
    <tr class="gap">
      <td style={{ height: `${rows * ROW_HEIGHT}px` }} />
    </tr>
  );
}

function classOf(isOptional = false, isNumber = false): string {
  return [isOptional ? "optional" : "", isNumber ? "number" : ""].filter(Boolean).join(" ");
}
