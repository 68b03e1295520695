import { z } from 'zod'
import { causeCodes } from './causes.ts'
import { decimalNumber, epochSeconds, extensibleEnum, textFilter, wholeNumber } from './field-schemas.ts'
import { isTimeZone } from './fields.ts'
import { finalStatuses, taskStatuses } from './task-status.ts'

const historyDays = ['1', '7', '30', '90'] as const
const usualDays = 30
export const maxMarks = 1_000
export const maxFailingApps = 10

const counts = z
  .partialRecord(z.enum(finalStatuses), wholeNumber)
  .describe('Tasks that ended, by status; statuses without tasks are absent')

const HistoryDurations = z
  .object({ median_seconds: decimalNumber, p95_seconds: decimalNumber, p99_seconds: decimalNumber })
  .meta({ id: 'HistoryDurations' })
export type HistoryDurations = z.infer<typeof HistoryDurations>

const HistoryLeadTime = z
  .object({
    median_seconds: decimalNumber,
    p75_seconds: decimalNumber,
    known: wholeNumber.describe('Number of commits that they are measured from'),
  })
  .meta({ id: 'HistoryLeadTime' })
export type HistoryLeadTime = z.infer<typeof HistoryLeadTime>

const HistoryTimeToRestore = z
  .object({ median_seconds: decimalNumber, known: wholeNumber.describe('How often an application was restored') })
  .meta({ id: 'HistoryTimeToRestore' })
export type HistoryTimeToRestore = z.infer<typeof HistoryTimeToRestore>

const HistoryRollbacks = z
  .object({
    cause: extensibleEnum(causeCodes)
      .optional()
      .describe('Code of the newest task of the application before the rollback; absent: that one was deployed'),
    count: wholeNumber,
  })
  .meta({ id: 'HistoryRollbacks' })
export type HistoryRollbacks = z.infer<typeof HistoryRollbacks>

/** What is told of a period, and of each of its days. */
const Period = z.object({
  counts,
  durations: HistoryDurations.optional().describe(
    'Seconds from the creation of deployed tasks to their end; absent where none was deployed',
  ),
  lead_time: HistoryLeadTime.optional().describe(
    'Seconds from `source.committed_at` to the end of the first deployed task of that `source.sha`, by the time of that ' +
      'end; absent where no commit is known',
  ),
  time_to_restore: HistoryTimeToRestore.optional().describe(
    'Seconds from the end of the first failed task to the end of the next deployed task of the application, by the time of ' +
      'that second end; failures since the beginning of `before`. Absent where nothing was restored',
  ),
  locked_seconds: decimalNumber.describe('How long deployments were locked, manually or by the current schedule'),
})

const HistoryPeriod = Period.extend({
  from: epochSeconds,
  to: epochSeconds,
  deploy_frequency: decimalNumber.describe('Deployed tasks, rollbacks included, divided by `days`'),
  change_failure_rate: decimalNumber
    .min(0)
    .max(1)
    .optional()
    .describe('failed / (deployed + failed), rollbacks included; absent where there was neither'),
  rollbacks: z
    .array(HistoryRollbacks)
    .describe('Deployed tasks that returned to the images of an earlier task, the most frequent cause first'),
}).meta({ id: 'HistoryPeriod' })
export type HistoryPeriod = z.infer<typeof HistoryPeriod>

const HistoryDay = Period.extend({
  day: z.string().describe('Date in the time zone: YYYY-MM-DD'),
  from: epochSeconds.describe('Beginning of the day; a day of a clock change has 23 or 25 hours'),
  to: epochSeconds.describe('Beginning of the next day'),
}).meta({ id: 'HistoryDay' })
export type HistoryDay = z.infer<typeof HistoryDay>

const HistoryMark = z
  .object({ id: z.string(), app: z.string(), status: z.enum(taskStatuses), ended: epochSeconds })
  .meta({ id: 'HistoryMark' })
export type HistoryMark = z.infer<typeof HistoryMark>

const FailingApp = z
  .object({
    app: z.string(),
    counts,
    median_seconds: decimalNumber.optional().describe('Median duration of its deployed tasks'),
  })
  .meta({ id: 'FailingApp' })
export type FailingApp = z.infer<typeof FailingApp>

export const History = z
  .object({
    as_of: epochSeconds,
    days: wholeNumber,
    time_zone: z.string(),
    total: HistoryPeriod.describe('From the beginning of the first day until now'),
    before: HistoryPeriod.describe(
      'The previous period of the same length: it begins as many days before the first day',
    ),
    by_day: z.array(HistoryDay).describe('Oldest first; the last day is today'),
    causes: z
      .array(z.object({ cause: extensibleEnum(causeCodes), count: wholeNumber }))
      .describe('Failure codes of failed and aborted tasks, the most frequent first'),
    most_failing: z
      .array(FailingApp)
      .describe(`Up to ${maxFailingApps} applications with failed or aborted tasks, those with most of them first`),
    marks: z
      .array(HistoryMark)
      .optional()
      .describe(`Only for one day: its newest deployed, failed and aborted tasks, up to ${maxMarks}, oldest first`),
    marks_capped: z.boolean().optional().describe(`There are more than ${maxMarks}`),
  })
  .meta({
    id: 'History',
    examples: [
      {
        as_of: 1_795_420_860,
        days: 1,
        time_zone: 'UTC',
        total: {
          from: 1_795_392_000,
          to: 1_795_420_860,
          counts: { deployed: 38, failed: 2 },
          durations: { median_seconds: 102, p95_seconds: 260.5, p99_seconds: 473 },
          lead_time: { median_seconds: 2_340, p75_seconds: 6_540, known: 27 },
          time_to_restore: { median_seconds: 640, known: 2 },
          locked_seconds: 0,
          deploy_frequency: 38,
          change_failure_rate: 0.05,
          rollbacks: [{ cause: 'crash_loop', count: 2 }],
        },
        before: {
          from: 1_795_305_600,
          to: 1_795_334_460,
          counts: { deployed: 35 },
          locked_seconds: 3_600,
          deploy_frequency: 35,
          change_failure_rate: 0,
          rollbacks: [],
        },
        by_day: [
          {
            day: '2026-11-23',
            from: 1_795_392_000,
            to: 1_795_478_400,
            counts: { deployed: 38, failed: 2 },
            durations: { median_seconds: 102, p95_seconds: 260.5, p99_seconds: 473 },
            lead_time: { median_seconds: 2_340, p75_seconds: 6_540, known: 27 },
            time_to_restore: { median_seconds: 640, known: 2 },
            locked_seconds: 0,
          },
        ],
        causes: [{ cause: 'crash_loop', count: 2 }],
        most_failing: [{ app: 'shop', counts: { deployed: 4, failed: 2 }, median_seconds: 96 }],
        marks: [
          {
            id: '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11',
            app: 'shop',
            status: 'failed',
            ended: 1_795_420_800.25,
          },
        ],
      },
    ],
  })
export type History = z.infer<typeof History>

/** The query string of the history. Unknown parameters are ignored. */
export const HistoryFilter = z.object({
  days: z
    .enum(historyDays, { error: `must be one of ${historyDays.join(', ')}` })
    .transform(Number)
    .optional()
    .meta({ type: 'integer', format: 'int32', enum: historyDays.map(Number) })
    .describe(`Number of days, today included; absent: ${usualDays}`),
  app: textFilter.describe('Only tasks of exactly this application'),
  project: textFilter.describe('Only tasks of exactly this project'),
  environment: textFilter.describe('Only tasks of exactly this environment'),
  tz: z
    .string()
    .max(64, { error: 'must be at most 64 characters long', abort: true })
    .refine(isTimeZone, 'must be an IANA time zone such as UTC or Europe/Berlin')
    .optional()
    .describe('IANA time zone of the days; absent: UTC'),
})
export type HistoryFilter = z.infer<typeof HistoryFilter>

export const daysOf = ({ days }: HistoryFilter) => days ?? usualDays
