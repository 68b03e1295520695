import { useEffect } from 'react'

const typing = 'input:not([type="radio"], [type="checkbox"], [type="button"]), textarea, select, [contenteditable]'

/** Runs the action of a single key, unless the reader is typing or holds a modifier. */
export function useKeys(actions: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      if (event.target instanceof Element && event.target.closest(typing)) return
      const action = actions[event.key]
      if (action === undefined) return
      event.preventDefault()
      action()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [actions])
}
