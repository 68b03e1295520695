import { z } from 'zod'
import { causeCodes } from './causes.ts'
import { decimalNumber, epochSeconds, extensibleEnum, wholeNumber } from './field-schemas.ts'
import { taskStatuses } from './task-status.ts'

const maxWindowDays = 90
const usualWindowDays = 30

export const maxSummaryImages = 3

const images = {
  images: z.array(z.object({ image: z.string(), tag: z.string() })).describe(`The first ${maxSummaryImages} of them`),
  image_count: wholeNumber.describe('All its images'),
  environment: z.string().optional(),
}

const LatestTask = z
  .object({
    id: z.string(),
    status: z.enum(taskStatuses),
    cause: extensibleEnum(causeCodes).optional(),
    headline: z.string().optional().describe('What happened, in at most 120 characters'),
    author: z.string(),
    ...images,
    created: epochSeconds,
    ended: epochSeconds.optional().describe('Absent while it is in progress'),
  })
  .meta({ id: 'LatestTask' })

/** Durations are seconds from a task's creation to its end. */
const AppSummary = z
  .object({
    app: z.string(),
    counts: z
      .partialRecord(z.enum(taskStatuses), wholeNumber)
      .describe('Tasks created within the window, by status; statuses without tasks are absent'),
    latest: LatestTask.optional().describe('The newest task of the window that is neither cancelled nor app not found'),
    last_deployment: z
      .object({ id: z.string(), created: epochSeconds, ...images })
      .meta({ id: 'LastDeployment' })
      .optional()
      .describe('The newest deployed task of the window'),
    median_seconds: decimalNumber.optional().describe('Median duration of the last ten deployed tasks of the window'),
    p95_seconds: decimalNumber.optional().describe('95th percentile of the last hundred deployed tasks of the window'),
    recent: z
      .array(z.object({ id: z.string(), status: z.enum(taskStatuses) }))
      .describe('The last ten tasks of the window, newest first'),
  })
  .meta({ id: 'AppSummary' })
export type AppSummary = z.infer<typeof AppSummary>

export const AppSummaries = z
  .object({
    as_of: epochSeconds.describe('Unix seconds; the answer may be up to 10 s old'),
    days: wholeNumber,
    apps: z.array(AppSummary).describe('Applications that Argo CD has shown, with a task in the window, by name'),
  })
  .meta({
    id: 'AppSummaries',
    examples: [
      {
        as_of: 1_795_420_860,
        days: 30,
        apps: [
          {
            app: 'shop',
            counts: { deployed: 41, failed: 2 },
            latest: {
              id: '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11',
              status: 'deployed',
              author: 'ada',
              images: [{ image: 'registry.example/shop', tag: 'v1.2.3' }],
              image_count: 1,
              created: 1_795_420_800.25,
              ended: 1_795_420_831.5,
            },
            last_deployment: {
              id: '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11',
              created: 1_795_420_800.25,
              images: [{ image: 'registry.example/shop', tag: 'v1.2.3' }],
              image_count: 1,
            },
            median_seconds: 31.2,
            p95_seconds: 58,
            recent: [
              { id: '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11', status: 'deployed' },
              { id: '019aa0c4-1c11-7a52-8f4d-2b7e0c9d5e21', status: 'failed' },
            ],
          },
        ],
      },
    ],
  })
export type AppSummaries = z.infer<typeof AppSummaries>

export const SummaryWindow = z.object({
  days: z
    .string()
    .regex(/^([1-9]|[1-8]\d|90)$/, `must be a whole number of days from 1 to ${maxWindowDays}`)
    .transform(Number)
    .optional()
    .meta({ type: 'integer', minimum: 1, maximum: maxWindowDays })
    .describe(`How far the window reaches back; absent: ${usualWindowDays}`),
})

export const summaryDays = ({ days }: z.infer<typeof SummaryWindow>) => days ?? usualWindowDays
