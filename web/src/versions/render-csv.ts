import { isoTime } from '../ui/moment.ts'
import type { ImageGroup } from './group-by-image.ts'

const columns = ['application', 'image', 'tag', 'digest', 'since', 'seen_since', 'drift', 'deployed_tag', 'deployment']

/** The table for a spreadsheet: RFC 4180, every value in quotes. `origin` is where the pages are. */
export function renderCsv(groups: readonly ImageGroup[], origin: string): string {
  const rows = groups.flatMap(({ versions }) =>
    versions.map(
      ({ app, image, tag, digest, since, seen_since: seen, drift, deployed_tag: deployed, task_id: task }) => [
        app,
        image,
        tag,
        digest,
        since === undefined ? undefined : isoTime(since),
        seen === undefined ? undefined : isoTime(seen),
        String(drift),
        deployed,
        task === undefined ? undefined : `${origin}/task/${encodeURIComponent(task)}`,
      ],
    ),
  )
  return [columns, ...rows].map((row) => `${row.map(quoted).join(',')}\r\n`).join('')
}

/** A spreadsheet runs a value that begins so as a formula; after an apostrophe it is a text. */
const formula = /^[\s\p{Cc}]*[=+\-@\t\r]/u

const quoted = (value = '') => `"${(formula.test(value) ? `'${value}` : value).replaceAll('"', '""')}"`
