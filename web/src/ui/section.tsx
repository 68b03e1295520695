import type { ComponentProps, ReactNode } from 'react'

type Props = Omit<ComponentProps<'section'>, 'title' | 'id'> & {
  title: string
  id: string
  note?: string
  noteTitle?: string
  end?: ReactNode
  children: ReactNode
}

/** A titled part of a page; its id can be jumped to. */
export function Section({ title, id, note, noteTitle, end, children, ...others }: Props) {
  return (
    <section className="section" id={id} aria-labelledby={`h-${id}`} {...others}>
      <div className="head">
        <h2 id={`h-${id}`}>{title}</h2>
        {note === undefined ? null : (
          <span className="count" title={noteTitle}>
            {note}
          </span>
        )}
        {end === undefined ? null : <span className="end">{end}</span>}
      </div>
      {children}
    </section>
  )
}
