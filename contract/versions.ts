import { z } from 'zod'
import { epochSeconds, textFilter, wholeNumber } from './field-schemas.ts'
import { taskStatuses } from './task-status.ts'

const RunningVersion = z
  .object({
    image: z.string().describe('Name of the image as it runs, without tag and digest'),
    tag: z.string().optional().describe('Absent where a digest alone runs'),
    digest: z.string().optional(),
    since: epochSeconds
      .optional()
      .describe('End of the newest task that deployed this image and tag; absent without one, and with `drift`'),
    seen_since: epochSeconds
      .optional()
      .describe(
        'Where `since` is absent: from when on the replica that answers has seen it run, at the earliest its own start',
      ),
    task_id: z
      .string()
      .optional()
      .describe('The newest task that deployed this image and tag, or else tried to; absent: not by this service'),
    task_status: z.enum(taskStatuses).optional().describe('Its status'),
    drift: z
      .boolean()
      .describe(
        'It is not what the last deployed task of the application with this image deployed, nor rolled out now',
      ),
    deployed_tag: z.string().optional().describe('With `drift`: the tag that was deployed last'),
  })
  .meta({ id: 'RunningVersion' })
export type RunningVersion = z.infer<typeof RunningVersion>

const AppVersions = z
  .object({
    app: z.string(),
    confirmed: epochSeconds.describe('When Argo CD last showed the application'),
    images: z.array(RunningVersion),
  })
  .meta({ id: 'AppVersions' })
export type AppVersions = z.infer<typeof AppVersions>

export const Versions = z
  .object({
    as_of: epochSeconds.describe('Unix seconds; the answer may be some seconds old'),
    stale: z.boolean().describe('Argo CD does not answer, or its stream is silent: this is the last state'),
    stale_since: epochSeconds.optional().describe('With `stale`: when Argo CD was last heard'),
    total: wholeNumber.describe('All applications that match'),
    has_more: z.boolean().describe('Not all of them fit into 2 MiB: narrow the filters'),
    truncated: z
      .boolean()
      .describe('Argo CD has more applications than are kept: 10,000, or 32 MiB of names and images'),
    apps: z.array(AppVersions).describe('Applications that Argo CD shows, by name'),
  })
  .meta({
    id: 'Versions',
    examples: [
      {
        as_of: 1_795_420_860,
        stale: false,
        total: 1,
        has_more: false,
        truncated: false,
        apps: [
          {
            app: 'shop',
            confirmed: 1_795_420_851.5,
            images: [
              {
                image: 'registry.example/shop',
                tag: 'v1.2.2',
                seen_since: 1_795_420_851.5,
                task_id: '019aa0c4-1c11-7a52-8f4d-2b7e0c9d5e21',
                task_status: 'deployed',
                drift: true,
                deployed_tag: 'v1.2.3',
              },
              { image: 'docker.io/library/redis', tag: '8.2', seen_since: 1_795_380_000, drift: false },
            ],
          },
        ],
      },
    ],
  })
export type Versions = z.infer<typeof Versions>

/** The query string of the versions. Unknown parameters are ignored. */
export const VersionFilter = z.object({
  app: textFilter.describe('Exactly this application'),
  image: textFilter.describe('Part of the name of the image, in any case'),
  search: textFilter.describe('Part of the application, the image or the tag, in any case'),
  drift: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .transform((text) => text === 'true')
    .optional()
    .meta({ type: 'boolean' })
    .describe('true: only what is not what was deployed last'),
})
export type VersionFilter = z.infer<typeof VersionFilter>
