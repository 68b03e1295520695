import { useClipboard } from '@mantine/hooks'
import { Icon } from './icon.tsx'

type Props = { text: string; label: string; compact?: boolean }

/** Copies a text and says so in its own place. Where the browser refuses, it says that too. */
export function CopyButton({ text, label, compact = false }: Props) {
  const clipboard = useClipboard({ timeout: 2_000 })
  const outcome = clipboard.copied ? 'Copied' : clipboard.error ? 'Not allowed here: select the text' : undefined
  return (
    <>
      <button
        className={compact ? 'btn btn-s icon-btn' : 'btn btn-s'}
        type="button"
        aria-label={compact ? label : undefined}
        title={compact ? label : undefined}
        onClick={() => clipboard.copy(text)}
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
