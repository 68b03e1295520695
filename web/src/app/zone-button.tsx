import { useChooseZone, useTimeZone } from '../ui/time-zone.ts'
import { ownTimeZone } from '../ui/zoned-time.ts'

/** In which zone times are, and a way to UTC or to that of this device. */
export function ZoneButton() {
  const [zone, choose] = [useTimeZone(), useChooseZone()]
  const isUtc = zone === 'UTC'
  const isLocal = !isUtc && zone === ownTimeZone()
  return (
    <button
      className="btn btn-plain btn-s hide-phone"
      type="button"
      aria-label={`Times are in ${isLocal ? 'local time' : zone}. Switch to ${isUtc ? 'local time' : 'UTC'}`}
      onClick={() => choose(isUtc ? 'local' : 'utc')}
    >
      {isLocal ? 'Local time' : zone}
    </button>
  )
}
