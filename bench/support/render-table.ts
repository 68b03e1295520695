/** Rows under a heading, columns aligned: the first holds words, the others figures. */
export function renderTable(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heading.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)))
  const pad = (text: string, at: number) => (at === 0 ? text.padEnd(widths[at] ?? 0) : text.padStart(widths[at] ?? 0))
  const line = (cells: readonly string[]) => `| ${heading.map((_, at) => pad(cells[at] ?? '', at)).join(' | ')} |`
  return [line(heading), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n')
}
