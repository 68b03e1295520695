import { type RefObject, useId } from 'react'

const shortcuts = [
  ['/', 'Find, as Ctrl+K and ⌘K do'],
  ['g o', 'Overview'],
  ['g t', 'Deployments'],
  ['g v', 'Versions'],
  ['g h', 'History'],
  ['g l', 'Deploy lock'],
  ['g s', 'Settings'],
  ['j k', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['x', 'Copy the link of the row'],
  ['r', 'Roll back the row, after a question'],
  ['.', 'Show new deployments'],
  ['c', 'Copy the report of a failed deployment'],
  ['?', 'This list'],
] as const

/** The keys. Closed by Esc, which takes the focus back to where it was. */
export function KeysDialog({ dialog }: { dialog: RefObject<HTMLDialogElement | null> }) {
  const title = useId()
  return (
    <dialog className="dialog" ref={dialog} aria-labelledby={title}>
      <div>
        <h2 id={title}>Keyboard shortcuts</h2>
        <dl className="keys">
          {shortcuts.map(([names, what]) => (
            <div key={names}>
              <dt>
                {names.split(' ').map((name) => (
                  <kbd key={name}>{name}</kbd>
                ))}
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <div className="actions">
          <button className="btn" type="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </div>
      </div>
    </dialog>
  )
}
