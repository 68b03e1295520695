import { sourcesOf } from '../model/application.ts'
import type { DeliveryController } from '../model/delivery-controller.ts'
import type { Call } from './call.ts'

export type WebhookAnswer = { status: 200 } | { status: 400; text: string }

/** A push event of GitHub's or Gitea's kind: every application of that repository and branch gets a refresh. */
export function receiveWebhook({ request, body }: Call, controller: DeliveryController): WebhookAnswer {
  const event =
    request.headers['x-gogs-event'] ?? request.headers['x-github-event'] ?? request.headers['x-gitlab-event']
  if (event === undefined) return { status: 400, text: 'Unknown webhook event\n' }
  if (event === 'ping') return { status: 200 }
  if (event !== 'push' && event !== 'Push Hook') return { status: 400, text: 'Webhook processing failed\n' }
  const push = JSON.parse(body)
  const branch = String(push.ref ?? '').replace(/^refs\/heads\//, '')
  const repository = repositoryKey(String(push.repository?.html_url ?? push.project?.web_url ?? ''))
  const isDefault = branch === (push.repository?.default_branch ?? push.project?.default_branch)
  for (const application of controller.store.list()) {
    const isConcerned = sourcesOf(application.spec).some(({ repoURL, targetRevision = '' }) => {
      const isBranch = targetRevision === branch || (isDefault && (targetRevision === '' || targetRevision === 'HEAD'))
      return repositoryKey(repoURL) === repository && isBranch
    })
    if (isConcerned) controller.annotateRefresh(application.metadata, 'normal')
  }
  return { status: 200 }
}

/** Host and path of a repository's address, whatever its scheme. */
function repositoryKey(address: string): string {
  return address
    .replace(/^[a-z]+:\/\//, '')
    .replace(/^[^@/]*@/, '')
    .replace(/^([^:/]+):(\d+\/)?/, '$1/')
    .replace(/\.git$/, '')
    .toLowerCase()
}
