import type { ReactNode } from 'react'
import { Icon } from './icon.tsx'

/** What is wrong with a field, below it; the field names the id in `aria-describedby`. */
export function FieldError({ id, children }: { id: string; children: ReactNode }) {
  return (
    <p className="field-error" id={id} role="alert">
      <Icon name="i-failed" />
      {children}
    </p>
  )
}
