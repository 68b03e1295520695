import { setDeviceSetting, useDeviceSetting } from '../ui/device-settings.ts'

/** In which zone times are, and a way to the other one. */
export function ZoneButton() {
  const zone = useDeviceSetting('zone')
  const [words, other, next] =
    zone === 'utc' ? (['UTC', 'local time', 'local'] as const) : (['Local time', 'UTC', 'utc'] as const)
  return (
    <button
      className="btn btn-plain btn-s hide-phone"
      type="button"
      aria-label={`Times are in ${zone === 'utc' ? words : 'local time'}. Switch to ${other}`}
      onClick={() => setDeviceSetting('zone', next)}
    >
      {words}
    </button>
  )
}
