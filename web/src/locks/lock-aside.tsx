import type { DeployLockDetails, DeployLockInterval } from '../../../contract/deploy-lock.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Section } from '../ui/section.tsx'
import { clockIn, dayIn, ownTimeZone, zoneLabel } from '../ui/zoned-time.ts'
import { tryScheduleCommand } from './lock-command.ts'
import { nextChanges } from './next-changes.ts'

const maxChanges = 6

type NextProps = { intervals: readonly DeployLockInterval[]; now: number; zone: string; days: number }

/** When the lock turns over next, manual locks and opened windows included. */
export function NextChanges({ intervals, now, zone, days }: NextProps) {
  const changes = nextChanges(intervals, now).slice(0, maxChanges)
  return (
    <Section title="Next changes" id="next">
      {changes.length === 0 ? (
        <p className="why">None within {days} days.</p>
      ) : (
        <dl className="facts">
          {changes.map(({ at, isLocked }) => (
            <div className="change" key={at}>
              <dt>{dayIn(at, zone)}</dt>
              <dd>
                {isLocked ? 'locks' : 'opens'} at {clockIn(at, zone)}
                {zoneLabel(at, zone, ownTimeZone())}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Section>
  )
}

/** LOCKDOWN_SCHEDULE as it is written, and how to try another. */
export function Schedule({ schedule: { windows, time_zone: timeZone } }: Pick<DeployLockDetails, 'schedule'>) {
  const command = tryScheduleCommand(windows, timeZone)
  return (
    <Section title="Schedule" id="schedule">
      {windows.length === 0 ? (
        <p className="why">
          None: <code>LOCKDOWN_SCHEDULE</code> is not set. Try one before you set it:
        </p>
      ) : (
        <>
          <code className="code-block">{windows.join(',\n')}</code>
          <p className="why">
            From <code>LOCKDOWN_SCHEDULE</code> in <code>LOCKDOWN_TIMEZONE</code> {timeZone}, read at start. Try a
            change before you set it:
          </p>
        </>
      )}
      <div className="copy">
        <code className="code-block">{command}</code>
        <CopyButton text={command} label="Copy the command" size="icon" />
      </div>
    </Section>
  )
}
