import { notificationEvents } from '../../../contract/text/notification-text.ts'
import type { Values } from '../../settings/definitions.ts'
import type { Notifications, Target } from './target.ts'

/** Names that no target of the configuration file can have. */
export const webhookName = 'variables:webhook'
export const mattermostName = 'variables:mattermost'

/** The targets that argo-watcher's variables make: told the start and the end of every task, also without a credential. */
export function variableTargets(values: Values): Notifications {
  const targets = new Map<string, Target>()
  const { WEBHOOK_URL: url, WEBHOOK_AUTHORIZATION_HEADER_VALUE: header } = values
  if (values.WEBHOOK_ENABLED && url !== undefined)
    targets.set(webhookName, {
      kind: 'webhook_format',
      url,
      format: values.WEBHOOK_FORMAT,
      contentType: values.WEBHOOK_CONTENT_TYPE,
      header: header === undefined ? undefined : { name: values.WEBHOOK_AUTHORIZATION_HEADER_NAME, value: header },
      allowedCodes: values.WEBHOOK_ALLOWED_RESPONSE_CODES,
      allow_private: true,
      logs: false,
    })
  const { MATTERMOST_URL: server, MATTERMOST_TOKEN: bearer, MATTERMOST_CHANNEL_ID: channel } = values
  if (values.MATTERMOST_ENABLED && server !== undefined && bearer !== undefined && channel !== undefined)
    targets.set(mattermostName, {
      kind: 'mattermost_format',
      url: server,
      bearer,
      channel,
      format: values.MATTERMOST_FORMAT,
      mention_author: values.MATTERMOST_MENTION_AUTHOR,
      allow_private: true,
      logs: false,
    })
  const names = [...targets.keys()]
  return {
    targets,
    routes: names.length === 0 ? [] : [{ events: [...notificationEvents], targets: names, anonymous: true }],
  }
}
