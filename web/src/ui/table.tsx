// biome-ignore-all lint/a11y/noRedundantRoles: a phone lays rows out as blocks, and a table that is not displayed as one loses its roles
import type { ComponentProps, ReactNode } from 'react'

/** The parts of a table that stays a table for the ear when a phone shows its rows as lines. */
export function Table({ label, className, columns, children }: TableProps) {
  return (
    <table className={`table cards ${className}`} role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ name, isNumber, isHidden, content = name, isSorted }) => (
            <th
              role="columnheader"
              scope="col"
              className={isNumber ? 'num' : undefined}
              aria-sort={isSorted ? 'descending' : undefined}
              key={name}
            >
              {isHidden ? <span className="sr">{name}</span> : content}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">{children}</tbody>
    </table>
  )
}

type TableProps = {
  label: string
  className: string
  /** A hidden name is for the ear; `content` is shown in place of the name. */
  columns: readonly {
    name: string
    isNumber?: boolean
    isHidden?: boolean
    content?: ReactNode
    isSorted?: boolean
  }[]
  children: ReactNode
}

export const Row = (props: ComponentProps<'tr'>) => <tr role="row" {...props} />
export const RowHead = (props: ComponentProps<'th'>) => <th role="rowheader" scope="row" {...props} />
export const Cell = (props: ComponentProps<'td'> & { 'data-label'?: string }) => <td role="cell" {...props} />
