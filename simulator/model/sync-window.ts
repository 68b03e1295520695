/** A window of a project, as the API shows it; the model is told whether it is open instead of reading the schedule. */
export type SyncWindow = {
  kind: 'allow' | 'deny'
  schedule: string
  duration: string
  manualSync: boolean
  isActive: boolean
}

export function blocksAutomatedSync(windows: readonly SyncWindow[]): boolean {
  const active = windows.filter(({ isActive }) => isActive)
  if (active.some(({ kind }) => kind === 'deny')) return true
  return windows.some(({ kind }) => kind === 'allow') && !active.some(({ kind }) => kind === 'allow')
}

/** A window with `manualSync` lets people through. */
export function blocksManualSync(windows: readonly SyncWindow[]): boolean {
  const active = windows.filter(({ isActive }) => isActive)
  const denies = active.filter(({ kind }) => kind === 'deny')
  if (denies.length > 0) return !denies.every(({ manualSync }) => manualSync)
  const allows = windows.filter(({ kind }) => kind === 'allow')
  if (allows.length === 0 || active.length > 0) return false
  return !allows.every(({ manualSync }) => manualSync)
}
