import { useId } from 'react'
import { offsetWords, ownTimeZone } from './zoned-time.ts'

type Props = { zone: string; suggested: string; now: number; choose: (zone: string) => void }

/** The time zone in which the page shows times: the suggested one, UTC, this device's, or any other. */
export function ZoneSelect({ zone, suggested, now, choose }: Props) {
  const id = useId()
  const near = [...new Set([suggested, 'UTC', ownTimeZone(), zone])]
  return (
    <span className="row">
      <label htmlFor={id} className="dim">
        Shown in
      </label>
      <select id={id} className="inline" value={zone} onChange={(event) => choose(event.currentTarget.value)}>
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
