import { type FocusEventHandler, type PointerEventHandler, useRef, useState } from 'react'
import { holdRows } from './views.ts'

/**
 * The rows of a section, which enter and leave only while pointer and focus are outside of it. `hold` belongs on the section.
 */
export function useHeldRows<Row extends { readonly key: string }>(latest: readonly Row[]) {
  const [isPointed, setPointed] = useState(false)
  const [isFocused, setFocused] = useState(false)
  const shown = useRef<readonly Row[]>([])
  const rows = holdRows(shown.current, latest, isPointed || isFocused)
  shown.current = rows
  const onPointerEnter: PointerEventHandler = ({ pointerType }) => setPointed(pointerType === 'mouse')
  const onBlur: FocusEventHandler = ({ currentTarget, relatedTarget }) =>
    setFocused(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))
  const hold = { onPointerEnter, onPointerLeave: () => setPointed(false), onFocus: () => setFocused(true), onBlur }
  return { rows, hold }
}
