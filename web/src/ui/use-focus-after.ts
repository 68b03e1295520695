import { type RefObject, useLayoutEffect } from 'react'

/** Where a control leaves the page while it has the focus, the heading of the page takes it: it would fall to nothing. */
export function useFocusAfter(control: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = control.current
    return () => {
      if (element !== null && element === document.activeElement) document.querySelector('h1')?.focus()
    }
  }, [control])
}
