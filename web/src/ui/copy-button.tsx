import { useClipboard } from '@mantine/hooks'
import { useMemo } from 'react'
import { Icon } from './icon.tsx'
import { useKeys } from './use-keys.ts'

type Props = {
  text: string
  label: string
  /** `icon`: the label is for the ear; `full`: as large as other buttons. */
  size?: 'icon' | 'small' | 'full'
  /** A single key that copies too. */
  shortcut?: string
}

const looks = { icon: 'btn btn-s icon-btn', small: 'btn btn-s', full: 'btn' }

/** Copies a text and says so in its own place. Where the browser does not let it, it says that too. */
export function CopyButton({ text, label, size = 'small', shortcut }: Props) {
  const clipboard = useClipboard({ timeout: 2_000 })
  const { copy } = clipboard
  useKeys(useMemo(() => (shortcut === undefined ? {} : { [shortcut]: () => copy(text) }), [shortcut, copy, text]))
  const outcome = clipboard.copied ? 'Copied' : clipboard.error ? 'Copy failed: select the text' : undefined
  return (
    <>
      <button
        className={size === 'icon' && clipboard.error ? looks.small : looks[size]}
        type="button"
        aria-label={size === 'icon' ? label : undefined}
        title={size === 'icon' ? label : undefined}
        aria-keyshortcuts={shortcut}
        onClick={() => copy(text)}
      >
        <Icon name={clipboard.copied ? 'i-deployed' : 'i-copy'} />
        {size === 'icon' ? clipboard.error && 'Copy failed' : (outcome ?? label)}
      </button>
      <span className="sr" role="status">
        {outcome}
      </span>
    </>
  )
}
