import { useClipboard } from '@mantine/hooks'
import { useMemo } from 'react'
import { Icon } from './icon.tsx'
import { useKeys } from './use-keys.ts'

type Props = { text: string; label: string; compact?: boolean /** A single key that copies too. */; shortcut?: string }

/** Copies a text and says so in its own place. Where the browser refuses, it says that too. */
export function CopyButton({ text, label, compact = false, shortcut }: Props) {
  const clipboard = useClipboard({ timeout: 2_000 })
  const { copy } = clipboard
  useKeys(useMemo(() => (shortcut === undefined ? {} : { [shortcut]: () => copy(text) }), [shortcut, copy, text]))
  const outcome = clipboard.copied ? 'Copied' : clipboard.error ? 'Copy failed: select the text' : undefined
  return (
    <>
      <button
        className={compact ? 'btn btn-s icon-btn' : 'btn btn-s'}
        type="button"
        aria-label={compact ? label : undefined}
        title={compact ? label : undefined}
        aria-keyshortcuts={shortcut}
        onClick={() => copy(text)}
      >
        <Icon name={clipboard.copied ? 'i-deployed' : 'i-copy'} />
        {compact ? null : (outcome ?? label)}
      </button>
      <span className="sr" role="status">
        {outcome}
      </span>
    </>
  )
}
