import { type ReactNode, useId } from 'react'

export type Key = {
  readonly name: string
  readonly look: 'bar-ok' | 'bar-bad' | 'bar-lost' | 'shade' | 'l1' | 'l2' | 'l3'
}
/** A number that matters, above its chart. */
export type Value = { readonly name: string; readonly value: string; readonly note?: string }

type Props = {
  title: string
  keys: readonly Key[]
  values: readonly Value[]
  /** What exactly is drawn. */
  definition: string
  children: ReactNode
  table: ReactNode
}

/** A chart with its legend, the figures that matter, its definition and its table. */
export function HistoryFigure({ title, keys, values, definition, children, table }: Props) {
  const id = useId()
  return (
    <figure className="figure" aria-labelledby={id}>
      <div className="head-s">
        <h2 id={id}>{title}</h2>
        <div className="legend">
          {keys.map(({ name, look }) => (
            <span key={name}>
              <KeyMark look={look} />
              {name}
            </span>
          ))}
        </div>
      </div>
      <dl className="values">
        {values.map(({ name, value, note }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {value}
              {note === undefined ? null : <span className="delta"> {note}</span>}
            </dd>
          </div>
        ))}
      </dl>
      {children}
      <figcaption className="def">{definition}</figcaption>
      <details>
        <summary>Show as a table</summary>
        {table}
      </details>
    </figure>
  )
}

function KeyMark({ look }: Pick<Key, 'look'>) {
  if (look.startsWith('l')) {
    return (
      <svg className="key chart" viewBox="0 0 22 10" aria-hidden="true">
        <path className={look} d="M1 5h20" />
      </svg>
    )
  }
  return (
    <svg className="key chart sq" viewBox="0 0 10 10" aria-hidden="true">
      <rect className={look} width="10" height="10" />
    </svg>
  )
}

type TableProps<Row> = {
  label: string
  columns: readonly string[]
  rows: readonly Row[]
  name: (row: Row) => string
  cells: (row: Row) => readonly ReactNode[]
}

/** The figures of a chart, one row for each day. */
export function DayTable<Row>({ label, columns, rows, name, cells }: TableProps<Row>) {
  return (
    <table className="table" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">Day</th>
          {columns.map((column) => (
            <th scope="col" className="num" key={column}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={name(row)}>
            <th scope="row">{name(row)}</th>
            {cells(row).map((cell, index) => (
              <td className="num" key={columns[index]}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
