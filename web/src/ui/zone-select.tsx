import { useId } from 'react'
import { useChooseZone, useTimeZone } from './time-zone.ts'
import { offsetWords, ownTimeZone } from './zoned-time.ts'

/** The time zone in which every page shows times: UTC, this device's, a suggested one, or any other. */
export function ZoneSelect({ suggested, now }: { suggested?: string; now: number }) {
  const id = useId()
  const [zone, choose] = [useTimeZone(), useChooseZone()]
  const own = ownTimeZone()
  const settings: Readonly<Record<string, string>> = { [own]: 'local', UTC: 'utc' }
  const near = [...new Set(['UTC', own, ...(suggested === undefined ? [] : [suggested]), zone])]
  return (
    <span className="row">
      <label htmlFor={id} className="dim">
        Shown in
      </label>
      <select
        id={id}
        className="inline"
        value={zone}
        onChange={({ currentTarget: { value } }) => choose(settings[value] ?? value)}
      >
        {near.map((name) => (
          <option value={name} key={name}>
            {name === 'UTC' ? name : `${name} (${offsetWords(now, name)})`}
          </option>
        ))}
        <optgroup label="All time zones">
          {Intl.supportedValuesOf('timeZone')
            .filter((name) => !near.includes(name))
            .map((name) => (
              <option value={name} key={name}>
                {name}
              </option>
            ))}
        </optgroup>
      </select>
    </span>
  )
}
