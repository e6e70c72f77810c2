/** Rows under headings, for a terminal or a README. */
export interface Table {
  readonly title: string;
  readonly headings: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Sentences below the table. */
  readonly footnotes: readonly string[];
}

/** A table as text, with aligned columns. */
export function asText({ title, headings, rows, footnotes }: Table): string {
  const all = [headings, ...rows];
  const widths = headings.map((_, column) =>
    Math.max(...all.map((row) => [...(row[column] ?? "")].length)),
  );
  const lines = all.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
  return [title, "", ...lines, ...footnotes.map((note) => `  ${note}`), ""].join("\n");
}

/** A table in Markdown, under a heading of the third level. */
export function asMarkdown({ title, headings, rows, footnotes }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escaped).join(" | ")} |`;
  const rule = headings.map((_, column) => (column === 0 ? "---" : "---:"));
  const notes =
    footnotes.length === 0 ? [] : ["", ...footnotes.map((note) => `${escaped(note)}  `)];
  return [
    `### ${title}`,
    "",
    line(headings),
    `| ${rule.join(" | ")} |`,
    ...rows.map(line),
    ...notes,
    "",
  ].join("\n");
}

function escaped(cell: string): string {
  return cell.replaceAll("|", "\\|");
}
