import { type ReactNode, useEffect, useRef } from 'react'

type Props = {
  title: string
  /** The button that changes nothing says what it keeps. */
  keep: string
  /** Another answer than yes and no. */
  other?: string | undefined
  confirm: string
  look: 'btn-danger' | 'btn-primary'
  /** Told once, however the question is closed. */
  onAnswer: (answer: Answer) => void
  children: ReactNode
}

export type Answer = 'confirmed' | 'other' | 'kept'

const answerOf = (value: string): Answer => (value === 'confirmed' || value === 'other' ? value : 'kept')

/**
 * Asks one question above the page. The browser keeps the focus inside, closes on Escape, and gives the focus back to the
 * button that opened it.
 */
export function ConfirmDialog({ title, keep, other, confirm, look, onAnswer, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal()
  }, [])
  return (
    <dialog
      className="dialog"
      ref={dialog}
      aria-labelledby="question"
      onClose={({ currentTarget }) => onAnswer(answerOf(currentTarget.returnValue))}
    >
      <div>
        <h2 id="question">{title}</h2>
        {children}
        <form method="dialog" className="actions">
          <button className="btn" type="submit" value="">
            {keep}
          </button>
          {other === undefined ? null : (
            <button className="btn" type="submit" value="other">
              {other}
            </button>
          )}
          <button className={`btn ${look}`} type="submit" value="confirmed">
            {confirm}
          </button>
        </form>
      </div>
    </dialog>
  )
}
