export type IconName =
  | 'i-progress'
  | 'i-deployed'
  | 'i-failed'
  | 'i-aborted'
  | 'i-cancelled'
  | 'i-missing'
  | 'i-locked'
  | 'i-open'
  | 'i-find'
  | 'i-copy'
  | 'i-out'
  | 'i-up'
  | 'i-back'
  | 'i-again'
  | 'i-commit'
  | 'i-cut'
  | 'i-down'
  | 'i-close'
  | 'i-key'
  | 'i-bell'
  | 'i-bell-on'
  | 'n-overview'
  | 'n-tasks'
  | 'n-versions'
  | 'n-history'
  | 'n-lock'
  | 'n-settings'

/** A sign of the sprite in the page. It always stands beside its word, so it is hidden from the ear. */
export function Icon({ name, className = '' }: { name: IconName; className?: string }) {
  return (
    <svg className={`icon ${className}`.trim()} aria-hidden="true">
      <use href={`#${name}`} />
    </svg>
  )
}
