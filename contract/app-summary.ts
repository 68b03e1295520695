import { z } from 'zod'
import { taskStatuses } from './task-status.ts'

const longestWindowDays = 90
const usualWindowDays = 30

/** Durations are seconds from a task's creation to its end. */
const AppSummary = z
  .object({
    app: z.string(),
    counts: z
      .partialRecord(z.enum(taskStatuses), z.number())
      .describe('Tasks created within the window, by status; a status without any is absent'),
    last_deployment: z
      .object({ id: z.string(), created: z.number().describe('Epoch seconds') })
      .optional()
      .describe('The newest deployed task of the window'),
    median_seconds: z.number().optional().describe('Median duration of the last ten deployed tasks of the window'),
    p95_seconds: z.number().optional().describe('95th percentile of the last hundred deployed tasks of the window'),
    recent: z.array(z.enum(taskStatuses)).describe('Statuses of the last ten tasks of the window, newest first'),
  })
  .meta({ id: 'AppSummary' })
export type AppSummary = z.infer<typeof AppSummary>

export const AppSummaries = z
  .object({
    as_of: z.number().describe('Epoch seconds; the answer may be up to 10 s old'),
    days: z.number(),
    apps: z.array(AppSummary).describe('Applications with a task in the window, by name'),
  })
  .meta({ id: 'AppSummaries' })
export type AppSummaries = z.infer<typeof AppSummaries>

export const SummaryWindow = z.object({
  days: z
    .string()
    .regex(/^([1-9]|[1-8]\d|90)$/, `must be a whole number of days from 1 to ${longestWindowDays}`)
    .transform(Number)
    .optional()
    .describe(`How far the window reaches back; absent: ${usualWindowDays}`),
})

export const summaryDays = ({ days }: z.infer<typeof SummaryWindow>) => days ?? usualWindowDays
