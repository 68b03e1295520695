import { z } from 'zod'
import { epochSeconds, futureSeconds, line } from './field-schemas.ts'
import { lastSecond, unixSeconds } from './fields.ts'

export const DeployLockState = z
  .boolean()
  .meta({ id: 'DeployLockState', description: 'true while new tasks are rejected', examples: [false] })

export const DeployLockDetails = z
  .object({
    active: z.boolean(),
    source: z.enum(['manual', 'schedule']).nullable().describe('Set manually or by a schedule'),
    since: epochSeconds.nullable(),
    until: epochSeconds.nullable().describe('Unix seconds; null while it is not known or never comes'),
    reason: z.string().nullable(),
    set_by: z.string().nullable().describe('Name of the user who has set it'),
    next_window: z
      .object({ from: epochSeconds, to: epochSeconds.nullable() })
      .nullable()
      .describe('The next lockdown window that has not begun'),
    override_until: epochSeconds
      .nullable()
      .describe('End of the time for which a user has opened the current lockdown window; else null'),
    schedule: z
      .object({
        windows: z.array(z.string()).describe('As in LOCKDOWN_SCHEDULE; empty: nothing is locked by schedule'),
        time_zone: z.string().describe('LOCKDOWN_TIMEZONE, in which they are written'),
      })
      .describe('LOCKDOWN_SCHEDULE'),
  })
  .meta({
    id: 'DeployLockDetails',
    examples: [
      {
        active: true,
        source: 'manual',
        since: 1_795_420_800.25,
        until: null,
        reason: 'database failover, OPS-2214',
        set_by: 'ada',
        next_window: { from: 1_795_798_800, to: 1_796_025_600 },
        override_until: null,
        schedule: { windows: ['Fri 17:00 - Mon 08:00'], time_zone: 'UTC' },
      },
    ],
  })
export type DeployLockDetails = z.infer<typeof DeployLockDetails>

export const DeployLockInterval = z
  .object({
    kind: z
      .enum(['scheduled', 'manual', 'opened'])
      .describe('A lockdown window, a lock set by a user, or a time for which a user opened a lockdown window'),
    from: epochSeconds,
    to: epochSeconds.nullable().describe('null: until released'),
    reason: z.string().nullable(),
    set_by: z.string().nullable().describe('Name of the user who locked or opened; null for a lockdown window'),
  })
  .meta({ id: 'DeployLockInterval' })
export type DeployLockInterval = z.infer<typeof DeployLockInterval>

export const DeployLockCalendar = z
  .object({
    from: epochSeconds,
    to: epochSeconds,
    intervals: z
      .array(DeployLockInterval)
      .describe('Intervals that overlap the range, ordered by `from`; intervals of different kinds may overlap'),
    capped: z.boolean().optional().describe('There are more intervals: request fewer days'),
  })
  .meta({
    id: 'DeployLockCalendar',
    examples: [
      {
        from: 1_795_392_000,
        to: 1_795_996_800,
        intervals: [
          {
            kind: 'manual',
            from: 1_795_420_800.25,
            to: null,
            reason: 'database failover, OPS-2214',
            set_by: 'ada',
          },
          { kind: 'scheduled', from: 1_795_798_800, to: 1_796_025_600, reason: null, set_by: null },
        ],
      },
    ],
  })
export type DeployLockCalendar = z.infer<typeof DeployLockCalendar>

export const LockRequest = z
  .object({
    reason: line(500).optional().describe('Shown by `GET /api/v1/deploy-lock/details`'),
    until: futureSeconds.optional().describe('Unix seconds of the end; absent: until released'),
  })
  .meta({ id: 'LockRequest', examples: [{ reason: 'database failover, OPS-2214' }] })
export type LockRequest = z.infer<typeof LockRequest>

const daySeconds = 86_400
const maxCalendarDays = 92

const moment = z
  .string(unixSeconds)
  .regex(/^\d{1,12}(\.\d{1,9})?$/, { error: unixSeconds, abort: true })
  .transform(Number)
  .refine((seconds) => seconds <= lastSecond, { error: unixSeconds, abort: true })
  .meta({ type: 'number', format: 'double', minimum: 0, maximum: lastSecond })

/** The query string of the calendar. Unknown parameters are ignored. */
export const CalendarRange = z
  .object({
    from: moment.describe('Unix seconds'),
    to: moment.describe(`Unix seconds, later than \`from\` by at most ${maxCalendarDays} days`),
  })
  .refine(({ from, to }) => from < to, { path: ['to'], error: 'must be later than from', abort: true })
  .refine(({ from, to }) => to - from <= maxCalendarDays * daySeconds, {
    path: ['to'],
    error: `must be at most ${maxCalendarDays} days after from`,
  })
export type CalendarRange = z.infer<typeof CalendarRange>
