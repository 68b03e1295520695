import { oneLine } from '../../contract/fields.ts'
import type { TaskRecord } from '../../contract/task.ts'

/** `+0.2s`, `+31s`, `+2m05s` */
export function elapsed(seconds: number): string {
  return `+${spanOf(seconds)}`
}

/** `0.2s`, `31s`, `2m05s`, `1h02m` */
export function spanOf(seconds: number): string {
  const whole = Math.max(0, seconds)
  if (whole < 9.95) return `${whole.toFixed(1)}s`
  const rounded = Math.round(whole)
  if (rounded < 100) return `${rounded}s`
  const minutes = Math.floor(rounded / 60)
  if (minutes < 100) return `${minutes}m${String(rounded % 60).padStart(2, '0')}s`
  return `${Math.floor(minutes / 60)}h${String(minutes % 60).padStart(2, '0')}m`
}

/** `2026-11-28 17:00 UTC` */
export const timeOf = (seconds: number): string =>
  `${new Date(seconds * 1_000).toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** `shop 1.1.0 → 1.2.0 (production)`; of several images only those whose tag changes, and how many they are. */
export function titleOf(task: Pick<TaskRecord, 'app' | 'images' | 'previous' | 'environment'>): string {
  const { app, images, previous, environment } = task
  const before = new Map(previous?.images.map(({ image, tag }) => [image, tag]))
  const changed = images.filter(({ image, tag }) => before.get(image) !== tag)
  const [first] = changed.length === 0 ? images : changed
  if (first === undefined) return oneLine(app)
  const old = before.get(first.image)
  const version = old === undefined || old === first.tag ? first.tag : `${old} → ${first.tag}`
  const same = changed.length <= 1 || changed.every(({ tag, image }) => tag === first.tag && before.get(image) === old)
  const more = images.length === 1 || same ? '' : `, ${changed.length} of ${images.length} images changed`
  return oneLine(`${app} ${version}${more}${environment === undefined ? '' : ` (${environment})`}`)
}
