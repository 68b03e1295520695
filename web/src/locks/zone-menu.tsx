import { useTick } from '../ui/now.tsx'
import { useChooseZone, useTimeZone } from '../ui/time-zone.ts'
import { ownTimeZone, zoneName } from '../ui/zoned-time.ts'
import { useDeployLock } from './read-deploy-lock.ts'

/** The one choice of a time zone, which every page obeys: this device's, UTC, or that of the lock's schedule. */
export function ZoneMenu({ id, className }: { id?: string; className?: string }) {
  const [zone, choose] = [useTimeZone(), useChooseZone()]
  const schedule = useDeployLock().data?.schedule.time_zone
  const now = useTick()
  const own = ownTimeZone()
  const groups = [
    { label: 'This device', name: own, setting: 'local' },
    { label: 'Everywhere', name: 'UTC', setting: 'utc' },
    ...(schedule === undefined ? [] : [{ label: 'Lock schedule', name: schedule, setting: schedule }]),
    { label: 'This page', name: zone, setting: zone },
  ].filter(({ name }, index, all) => all.findIndex((group) => group.name === name) === index)
  return (
    <select
      id={id}
      className={className}
      aria-label="Time zone"
      title="Time zone of every page"
      value={zone}
      onChange={({ currentTarget: { value } }) => choose(groups.find(({ name }) => name === value)?.setting ?? 'local')}
    >
      {groups.map(({ label, name }) => (
        <optgroup label={label} key={name}>
          <option value={name}>{zoneName(name, now)}</option>
        </optgroup>
      ))}
    </select>
  )
}
