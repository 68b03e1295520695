import { useState } from 'react'
import { useSearch } from 'wouter'
import type { DeployLockDetails } from '../../../contract/deploy-lock.ts'
import { AddressIssueNotice } from '../ui/address-issue-notice.tsx'
import { findAddressIssues, zoneRule } from '../ui/address-issues.ts'
import { Answered } from '../ui/answered.tsx'
import { useNow } from '../ui/now.tsx'
import { Section } from '../ui/section.tsx'
import { useTab } from '../ui/tab.ts'
import { useTimeWords, useTimeZone } from '../ui/time-zone.ts'
import { ownTimeZone, startOfDay, wallDay, weekdayOf, zoneLabel, zoneName } from '../ui/zoned-time.ts'
import { NextChanges, Schedule } from './lock-aside.tsx'
import { LockAudit } from './lock-audit.tsx'
import { emptyDraft } from './lock-ends.ts'
import { LockSwitch } from './lock-switch.tsx'
import { LockWeek } from './lock-week.tsx'
import { useDeployLock } from './read-deploy-lock.ts'
import { useLockCalendar } from './read-lock-calendar.ts'

/** May we deploy, until when, and who said so? */
export function LockPage() {
  const details = useDeployLock()
  const lock = details.data
  useTab(`Lock${lock === undefined ? '' : lock.active ? ': locked' : ': open'}`)
  return (
    <>
      <div className="between">
        <h1 tabIndex={-1}>Deploy lock</h1>
        <p className="small dim">While locked, new deployments are rejected. Running ones continue.</p>
      </div>
      <Answered query={details} what="the deploy lock">
        {(known) => <Loaded lock={known} />}
      </Answered>
    </>
  )
}

const aheadDays = 28

function Loaded({ lock }: { lock: DeployLockDetails }) {
  const [draft, setDraft] = useState(emptyDraft)
  const now = useNow()
  const zone = useTimeZone()
  const time = useTimeWords(now)
  const issues = findAddressIssues(new URLSearchParams(useSearch()), { tz: zoneRule })
  const isLocal = zoneLabel(now, zone, ownTimeZone()) === ''
  const today = wallDay(now, zone)
  const monday = today - weekdayOf(today)
  const calendar = useLockCalendar(startOfDay(monday, zone), startOfDay(today + aheadDays, zone), lock)
  const isSettled = calendar.data !== undefined || calendar.error !== null // what is below the week must not move
  return (
    <>
      <AddressIssueNotice issues={issues} cleared="/lock" />
      <div className="cols">
        <div className="flow">
          <LockSwitch lock={lock} zone={zone} draft={draft} setDraft={setDraft} />
          <Section
            title="This week"
            id="week"
            end={isLocal ? undefined : <span className="dim">{zoneName(zone, now)}</span>}
          >
            <Answered query={calendar} what="the week">
              {({ intervals }) => <LockWeek intervals={intervals} now={now} zone={zone} />}
            </Answered>
          </Section>
          {isSettled ? <LockAudit lock={lock} time={time} /> : null}
        </div>
        <div className="aside">
          {calendar.data === undefined ? null : (
            <NextChanges
              intervals={calendar.data.intervals}
              now={Math.max(now, lock.since ?? 0)} // a clock of this device that is behind would tell of the lock as ahead
              zone={zone}
              days={aheadDays}
            />
          )}
          {isSettled ? <Schedule schedule={lock.schedule} /> : null}
        </div>
      </div>
    </>
  )
}
