import { z } from 'zod'
import { causeCodes } from './causes.ts'
import { conditionNames } from './conditions.ts'
import { Diagnosis } from './diagnosis.ts'
import { ErrorReply } from './error-reply.ts'
import { decimalNumber, epochSeconds, extensibleEnum, line, textFilter, wholeNumber } from './field-schemas.ts'
import { lastSecond, momentPattern, taskIdPattern, unixSeconds } from './fields.ts'
import { endsInTag, repositoryOf } from './image-name.ts'
import { listedTaskFields } from './listed-task-fields.ts'
import { taskStatuses } from './task-status.ts'

const name = line(255)

export const Image = z
  .object({
    image: name.describe('Full image name including registry and path, without tag or digest'),
    tag: name.describe('Image tag, used exactly as given'),
  })
  .meta({ id: 'Image', examples: [{ image: 'registry.example/shop', tag: 'v1.2.3' }] })
export type Image = z.infer<typeof Image>

const maxImagesBytes = 16 * 1024
const utf8 = new TextEncoder()
const bytesOf = ({ image, tag }: Image) => utf8.encode(image + tag).length

const imagesOfOneTask = z
  .array(Image)
  .min(1, 'must contain at least one image')
  .max(50, 'must contain at most 50 images')
  .superRefine((images, context) => {
    const tagOf = new Map<string, string>()
    for (const [index, { image, tag }] of images.entries()) {
      if (endsInTag(image)) {
        const message = 'must not include a tag or digest; put the tag in tag'
        context.addIssue({ code: 'custom', path: [index, 'image'], message })
      }
      const repository = repositoryOf(image)
      const earlier = tagOf.get(repository)
      if (earlier !== undefined && earlier !== tag) {
        context.addIssue({ code: 'custom', path: [index, 'tag'], message: 'names a second tag for the same image' })
      }
      tagOf.set(repository, tag)
    }
    if (images.reduce((sum, image) => sum + bytesOf(image), 0) > maxImagesBytes)
      context.addIssue({ code: 'custom', message: 'names and tags must be at most 16 KiB together' })
  })
  .describe('One tag per image; names and tags together at most 16 KiB')

/** The commit of the application's own repository that a deployment ships. */
export const Source = z
  .object({
    repository: name,
    sha: name,
    ref: name.optional().describe('Branch, or ref of it, that was built'),
    tag: name.optional().describe('Tag that was built'),
    url: name.optional(),
    committed_at: decimalNumber.min(0, unixSeconds).max(lastSecond, unixSeconds).optional().describe('Unix seconds'),
  })
  .meta({ id: 'Source' })
export type Source = z.infer<typeof Source>

const applicationName = line(255, '%').refine((app) => !app.includes('..'), "must not contain '..'")

export const TaskSubmission = z
  .object({
    app: applicationName.describe(
      'Name of the application in Argo CD, without `..`; `namespace/name` with APPS_IN_ANY_NAMESPACE',
    ),
    author: name.describe('Who requests the deployment'),
    project: name.describe('Project name'),
    environment: name.optional().describe('Environment of the deployment, such as production'),
    images: imagesOfOneTask,
    timeout: z
      .number('must be a whole number of seconds')
      .refine(Number.isInteger, 'must be a whole number of seconds')
      .meta({ type: 'integer', format: 'int32' })
      .optional()
      .describe('Timeout in seconds, at most 86400; absent or not above 0: DEPLOYMENT_TIMEOUT'),
    wait_for_app: z
      .number('must be a whole number of seconds')
      .refine(Number.isInteger, 'must be a whole number of seconds')
      .refine((seconds) => seconds >= 0, 'must not be below 0')
      .meta({ type: 'integer', format: 'int32', minimum: 0 })
      .optional()
      .describe(
        'Seconds that the application may take to appear in Argo CD, at most the timeout; absent: APP_APPEAR_GRACE',
      ),
    refresh: z.boolean().nullish().describe('Request an Argo CD refresh; absent or null: ARGO_REFRESH_APP'),
    source: Source.optional().describe('Absent: as the ID token of the CI says'),
    rollback_target_id: z
      .string()
      .regex(taskIdPattern, 'must be the id of a task')
      .optional()
      .describe('Id of the deployed task to return to: of this application, with the same images'),
    on_failure: z
      .enum(['rollback', 'none'], 'must be rollback or none')
      .optional()
      .describe(
        'Whether a failure that may mean a bad version takes the commit back; absent: the annotation on-failure, else ON_FAILURE',
      ),
  })
  .meta({
    id: 'TaskSubmission',
    examples: [
      { app: 'shop', author: 'ada', project: 'shop', images: [{ image: 'registry.example/shop', tag: 'v1.2.3' }] },
    ],
  })
export type TaskSubmission = z.infer<typeof TaskSubmission>

export const SubmissionHeaders = z.looseObject({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'must be one value of 1 to 255 visible ASCII characters without blanks')
    .optional()
    .describe(
      'The same key with the same body gives the same task again, for 24 hours; with another body 409. ' +
        'A key belongs to the credential and the application',
    ),
  traceparent: z
    .string()
    .optional()
    .describe(
      'Span of the pipeline, by W3C Trace Context: the parent of what targets of kind `otlp` receive. Ignored if invalid',
    ),
})

export const TaskAcceptance = z
  .object({ id: z.string(), status: z.literal('accepted') })
  .meta({ id: 'TaskAcceptance', examples: [{ id: '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11', status: 'accepted' }] })
export type TaskAcceptance = z.infer<typeof TaskAcceptance>

const PodLog = z.object({ pod: z.string(), lines: z.array(z.string()).describe('Oldest first') }).meta({ id: 'PodLog' })
export type PodLog = z.infer<typeof PodLog>

const OtherTask = z.object({ id: z.string(), images: z.array(z.object({ image: z.string(), tag: z.string() })) })
const DeployedTask = OtherTask.extend({ ended: epochSeconds }).meta({ id: 'DeployedTask' })
const NewerTask = OtherTask.extend({ status: z.enum(taskStatuses) }).meta({ id: 'NewerTask' })

/** A task as GET shows it. Times are Unix seconds with a fraction. Absent optional fields are not known (yet). */
export const TaskRecord = z
  .object({
    id: z.string(),
    created: epochSeconds,
    updated: epochSeconds,
    app: z.string(),
    author: z.string(),
    project: z.string(),
    environment: z.string().optional().describe('Environment of the deployment, as its submission names it'),
    images: z.array(z.object({ image: z.string(), tag: z.string() })),
    status: z.enum(taskStatuses),
    status_reason: z.string().optional().describe('Reason of the final status: a headline, then the evidence'),
    cause: extensibleEnum(causeCodes).optional().describe('Failure code; more may be added'),
    headline: z.string().optional().describe('What happened, in at most 120 characters, as in its diagnosis'),
    progress: z.string().optional().describe('What it waits for now'),
    unmet_condition: extensibleEnum(conditionNames)
      .optional()
      .describe('The first condition that is not met, in the order of a rollout'),
    diagnosis: Diagnosis.optional().describe('Why it is in this state; only when one task is read'),
    timeout: wholeNumber.optional().describe('Seconds from created to the deadline'),
    wait_for_app: wholeNumber.optional().describe('Seconds that the application may take to appear in Argo CD'),
    refresh: z.boolean().optional().describe('Whether an Argo CD refresh may be requested'),
    is_rollback: z.boolean().optional().describe('Returns to the images of an earlier task'),
    rollback_target_id: z.string().optional().describe('Id of that earlier task'),
    rollback_of: z.string().optional().describe('Id of the failed task whose commit it takes back'),
    rolled_back_by: z
      .string()
      .optional()
      .describe('Id of the task that takes back its commit after its failure; only when one task is read'),
    commit: z
      .string()
      .optional()
      .describe(
        "Commit in the GitOps repository: the task's own or, where it had nothing to commit, the one that last changed its tags, which appears once it is found",
      ),
    repository: z.string().optional().describe('Where the tags are committed'),
    branch: z.string().optional().describe('Where the tags are committed'),
    app_url: z.string().optional().describe('The application in Argo CD'),
    source: Source.optional(),
    previous: DeployedTask.optional().describe(
      'The deployed task before it with one of its images, of the last 1,000 of the application; in lists of the last 20 deployed ones',
    ),
    deployed_since: DeployedTask.optional().describe(
      'The last deployed task after it with one of its images, of the last 1,000 of the application; only when one task is read',
    ),
    newest_since: NewerTask.optional().describe(
      'The newest task after it with one of its images, of the last 1,000 of the application, unless it was cancelled or its ' +
        'application not found before a commit; only when one task is read',
    ),
    file: z.string().optional().describe('The file with the tag in the GitOps repository; only when one task is read'),
    commit_url: z
      .string()
      .optional()
      .describe(
        'Address of the commit for people, if GIT_WEB_URLS or a public host gives one; only when one task is read',
      ),
    compare_url: z
      .string()
      .optional()
      .describe(
        'Address of what changed since `previous` in the repository of `source`, where both tasks name a commit of it; only ' +
          'when one task is read',
      ),
    similar_apps: z
      .array(z.string())
      .optional()
      .describe(
        'Of a task whose application was not found: up to three with a similar name; only when one task is read. Those ' +
          'without a task are shown to callers with a credential',
      ),
    pod_log: PodLog.optional().describe(
      'Last log lines of the failing Pod, with POD_LOG_LINES; shown only when one task is read, to callers with a credential',
    ),
  })
  .meta({
    id: 'Task',
    examples: [
      {
        id: '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11',
        created: 1_795_420_800.25,
        updated: 1_795_420_831.5,
        app: 'shop',
        author: 'ada',
        project: 'shop',
        images: [{ image: 'registry.example/shop', tag: 'v1.2.3' }],
        status: 'deployed',
        timeout: 900,
        refresh: true,
        commit: '4f3c1d2e5b6a79880011223344556677aabbccdd',
        repository: 'ssh://git@git.example/gitops.git',
        branch: 'main',
        app_url: 'https://argocd.example/applications/argocd/shop',
      },
    ],
  })
export type TaskRecord = z.infer<typeof TaskRecord>

/** What a row of a list shows of a task. */
export const ListedTask = TaskRecord.pick(listedTaskFields).meta({ id: 'ListedTask' })
export type ListedTask = z.infer<typeof ListedTask>

export const TaskMissing = ErrorReply.extend({ id: z.string() }).meta({
  id: 'TaskMissing',
  examples: [{ id: '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11', error: 'task not found' }],
})

export const TaskList = z
  .object({
    tasks: z.array(TaskRecord),
    total: wholeNumber.optional().describe('Exact up to 10,000; absent from pages requested with a cursor'),
    total_capped: z.boolean().optional().describe('There are more than `total`'),
    next_cursor: z
      .string()
      .optional()
      .describe('`cursor` of the next page; absent from the last one. A page ends at 2 MiB'),
    next_offset: wholeNumber
      .optional()
      .describe('`offset` of the next page, if this one was requested without a cursor and ends at 2 MiB'),
  })
  .meta({ id: 'TaskList', examples: [{ tasks: [], total: 0 }] })
export type TaskList = z.infer<typeof TaskList>

/** The last task of a page: where the next page begins. Clients pass it on as it is. */
export type TaskCursor = { readonly createdMs: number; readonly id: string }

export const renderTaskCursor = ({ createdMs, id }: TaskCursor) => `${createdMs.toString(36)}-${id.replaceAll('-', '')}`

export const TaskCursor = z
  .string()
  .regex(/^[0-9a-z]{1,9}-[0-9a-f]{32}$/, 'must be a next_cursor of this list')
  .transform((text): TaskCursor => {
    const [time = '', hex = ''] = text.split('-')
    const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
    return { createdMs: Number.parseInt(time, 36), id }
  })

const timestampFilter = z
  .string()
  .regex(momentPattern, unixSeconds)
  .transform((text) => (text === '' ? undefined : Number(text)))
  .refine((seconds = 0) => seconds <= lastSecond, unixSeconds)
  .optional()
  .meta({ type: 'number', format: 'double', minimum: 0, maximum: lastSecond })

export const largestPage = 1000
/** What an offset skips is read. */
const maxOffset = 100_000

/** argo-watcher's other statuses: clients may ask for them, and no task has them. */
const filterStatuses = [...taskStatuses, 'accepted', 'argocd is unavailable'] as const

const conditions = z.object({
  app: textFilter.describe('Exactly this application'),
  project: textFilter.describe('Exactly this project'),
  environment: textFilter.describe('Exactly this environment'),
  author: textFilter.describe('Exactly this author'),
  cause: z.enum(causeCodes, { error: 'must be a failure code' }).optional().describe('Ended with this failure code'),
  search: textFilter.describe('Part of an application, author, project, image, id or commit'),
  from_timestamp: timestampFilter.describe('Created after this moment'),
  to_timestamp: timestampFilter.describe('Created at this moment or before'),
  ended_from: timestampFilter.describe('Ended at this moment or later'),
  ended_to: timestampFilter.describe('Ended before this moment'),
})
const isInOrder = ({ from_timestamp: from, to_timestamp: to }: z.infer<typeof conditions>) =>
  from === undefined || to === undefined || from <= to
const notInOrder = { path: ['from_timestamp'], error: 'must not be later than to_timestamp' }
const isEndInOrder = ({ ended_from: from, ended_to: to }: z.infer<typeof conditions>) =>
  from === undefined || to === undefined || from <= to
const endNotInOrder = { path: ['ended_from'], error: 'must not be later than ended_to' }

/** The query string of the counts: the list's, without what chooses a status or a page. */
export const TaskFilterFields = conditions.refine(isInOrder, notInOrder).refine(isEndInOrder, endNotInOrder)
export type TaskFilterFields = z.infer<typeof TaskFilterFields>

/** The query string of the list. Unknown parameters are ignored. */
export const TaskFilter = conditions
  .extend({
    status: z
      .string()
      .meta({ pattern: `^(${taskStatuses.join('|')})(,(${taskStatuses.join('|')}))*$` })
      .optional()
      .describe(`One of ${taskStatuses.join(', ')}; or several, separated by commas`),
    limit: z
      .string()
      .regex(/^(-?\d+)?$/, 'must be a whole number')
      .transform((text) => (Number(text) > 0 && Number(text) < largestPage ? Number(text) : largestPage))
      .optional()
      .meta({ type: 'integer', format: 'int32' })
      .describe('Page size; 0, below 0 and above 1000 mean 1000'),
    offset: z
      .string()
      .regex(/^\d*$/, 'must be a whole number, 0 or above')
      .transform((text) => (text === '' ? undefined : Number(text)))
      .refine((offset = 0) => offset <= maxOffset, `must be at most ${maxOffset}: use cursor`)
      .optional()
      .meta({ type: 'integer', format: 'int32', minimum: 0, maximum: maxOffset }),
    cursor: TaskCursor.optional().describe(
      '`next_cursor` of the page before, with the same filters; not with `offset`',
    ),
  })
  .refine(({ cursor, offset }) => cursor === undefined || offset === undefined, {
    path: ['cursor'],
    error: 'must not be combined with offset',
  })
  .refine(isInOrder, notInOrder)
  .refine(isEndInOrder, endNotInOrder)
  // Not a fault of the field, which would stand before it: argo-watcher's words are exactly these.
  .transform(({ status: wanted, ...filter }, context) => {
    const asked = wanted ? wanted.split(',') : []
    const statuses = filterStatuses.filter((one) => asked.includes(one))
    if (asked.some((one) => !statuses.some((known) => known === one))) context.addIssue('unsupported status filter')
    return { ...filter, ...(statuses.length === 0 ? {} : { statuses }) }
  })
export type TaskFilter = z.infer<typeof TaskFilter>

export const TaskWait = z.object({
  wait: z
    .string()
    .regex(/^([1-9]|[1-5]\d|60)$/, 'must be a whole number of seconds from 1 to 60')
    .transform(Number)
    .optional()
    .meta({ type: 'integer', minimum: 1, maximum: 60 })
    .describe('Answer when the task is final, or after this many seconds'),
})
