import { createContext, type ReactNode, use, useEffect, useMemo, useRef, useState } from 'react'
import { Icon } from './icon.tsx'

/** Confirms what the reader did, with a way back where there is one. */
export type Toast = { readonly text: string; readonly undo?: () => void }

const shownMs = 20_000

const ShowToast = createContext<(toast: Toast) => void>(() => undefined)

/** Shows a toast in place of the one before; it goes after 20 s, unless the focus is on it. */
export const useToast = () => use(ShowToast)

export function ToastProvider({ children }: { children: ReactNode }) {
  const [toast, setToast] = useState<Toast | undefined>()
  const shown = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (toast === undefined) return
    const hide = () => {
      if (shown.current?.matches(':focus-within')) return
      setToast(undefined)
    }
    const timer = setInterval(hide, shownMs)
    return () => clearInterval(timer)
  }, [toast])
  const act = useMemo(
    () => () => {
      setToast(undefined)
      toast?.undo?.()
    },
    [toast],
  )
  return (
    <ShowToast value={setToast}>
      {children}
      <div className="toasts" role="status">
        {toast === undefined ? null : (
          <div className="toast" ref={shown}>
            <span>{toast.text}</span>
            {toast.undo === undefined ? null : (
              <button type="button" onClick={act}>
                Undo
              </button>
            )}
            <button type="button" aria-label="Close" onClick={() => setToast(undefined)}>
              <Icon name="i-close" />
            </button>
          </div>
        )}
      </div>
    </ShowToast>
  )
}
