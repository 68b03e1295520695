import { z } from 'zod'
import { line } from '../../contract/field-schemas.ts'
import { CiIdentities } from '../auth/ci/ci-rule.ts'
import { NotificationsForm } from '../notify/targets/target.ts'

/** What CONFIG_FILE or CONFIG holds: what has more structure than an environment variable. */
export const ConfigDocument = z
  .strictObject({
    ci_identities: CiIdentities.optional().describe('Pipelines that deploy with the ID token of their CI'),
    environments: z
      .record(line(255), line(255))
      .optional()
      .describe(
        'Applications, as globs, with the environment of their deployments; the one with the most literal characters that fits counts',
      ),
    notifications: NotificationsForm.optional().describe('Whom deployments are told'),
  })
  .meta({ title: 'Configuration file of Deployment Watcher' })

/** The JSON Schema of the document, for editors. */
export const configJsonSchema = () => z.toJSONSchema(ConfigDocument, { io: 'input' })
