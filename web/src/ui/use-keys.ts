import { useEffect } from 'react'
import { deviceSetting } from './device-settings.ts'

const typing = 'input:not([type="radio"], [type="checkbox"], [type="button"]), textarea, select, [contenteditable]'
const sequenceMs = 1_500

/** In a dialog that just closed, which the focus leaves a moment later, keys are the page's again. */
const isTaken = (target: Element) =>
  target.closest(`${typing}, dialog`) !== null && target.closest('dialog:not([open])') === null

/**
 * Runs the action of a key (`j`) or of two in turn (`g t`), unless the reader is typing, holds a modifier, has a dialog open
 * or has switched shortcuts off on this device.
 */
export function useKeys(actions: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    let first: { key: string; atMs: number } | undefined
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      if (event.target instanceof Element && isTaken(event.target)) return
      if (deviceSetting('shortcuts') === 'off') return
      const isSecond = first !== undefined && event.timeStamp - first.atMs < sequenceMs
      const action = (isSecond ? actions[`${first?.key} ${event.key}`] : undefined) ?? actions[event.key]
      first = { key: event.key, atMs: event.timeStamp }
      if (action === undefined) return
      event.preventDefault()
      action()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [actions])
}
