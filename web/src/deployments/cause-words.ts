import type { Cause } from '../../../contract/cause.ts'

/** What a cause means in one headline, and what one can do about it. The evidence comes from the task's own reason. */
export type CauseWords = { readonly headline: string; readonly todo: readonly string[] }

const mend = 'Fix it, then redeploy. Without a change it fails again.'
const again = 'Deploy again once it answers; nothing else has to change.'

export const causeWords: Readonly<Record<Cause, CauseWords>> = {
  app_not_found: {
    headline: 'Argo CD has no application of this name',
    todo: ['Compare the name with Argo CD, letter by letter.', 'Then deploy again under the right name.'],
  },
  app_gone: {
    headline: 'The application was deleted during the rollout',
    todo: ['Find out who removed it from Argo CD.', 'Deploy again once it exists.'],
  },
  image_pull: {
    headline: 'The image cannot be pulled',
    todo: ['Check that this tag exists in the registry and that the cluster may pull it.', mend],
  },
  image_name: { headline: 'The image name is not valid', todo: ['Correct the name of the image or its tag.', mend] },
  container_config: {
    headline: 'A container cannot be created from its configuration',
    todo: ['Look for a missing Secret, ConfigMap or key that the Pod refers to.', mend],
  },
  crash_loop: {
    headline: 'A container crashes right after it starts',
    todo: ['The image was pulled and started: read its log, then its configuration and secrets.', mend],
  },
  probe_failing: {
    headline: 'A container runs but does not become ready',
    todo: ['Read what its probe answers, and the log of the container.', mend],
  },
  degraded: {
    headline: 'The application became Degraded',
    todo: ['Open the resources that the report names in Argo CD.', mend],
  },
  hook_failed: {
    headline: 'A hook of the sync failed',
    todo: ['Read the log of the hook that the report names.', mend],
  },
  sync_error: {
    headline: 'Argo CD could not apply the manifests',
    todo: ['Correct the manifest that the report names.', mend],
  },
  terminated: {
    headline: 'The sync was terminated in Argo CD',
    todo: ['Ask who stopped it.', 'Deploy again when it may run.'],
  },
  comparison_error: {
    headline: 'Argo CD cannot render the manifests',
    todo: ['Correct the repository or the values that the report names.', mend],
  },
  image_not_in_application: {
    headline: 'The image is not part of the application',
    todo: ['Compare the image name with those the report lists.', 'Deploy again with the right name.'],
  },
  commit_without_effect: {
    headline: 'The commit did not change the manifests',
    todo: ['Check what the report lists, in its order.', mend],
  },
  not_followed: {
    headline: 'The application does not follow this branch',
    todo: ['Let the application track the branch that is written to, or write to the one it tracks.', mend],
  },
  sync_window: {
    headline: 'Blocked by an Argo CD sync window',
    todo: ['Wait until the window allows a sync.', 'Then deploy again.'],
  },
  manual_sync_required: {
    headline: 'Manual sync required',
    todo: ['Sync the application in Argo CD, or switch on automated sync.', 'Then deploy again.'],
  },
  auto_sync_stopped: {
    headline: 'Argo CD stopped auto-sync',
    todo: ['Read the last sync error in Argo CD and sync once by hand.', 'Then deploy again.'],
  },
  suspended: {
    headline: 'The rollout is paused',
    todo: ['Resume it in Argo CD or in the cluster.', 'Then deploy again.'],
  },
  timeout: {
    headline: 'The time ran out before the rollout was complete',
    todo: ['Read what it still waited for.', 'Deploy again, with a longer timeout if it only needed more time.'],
  },
  controller_unreachable: {
    headline: 'Argo CD could not be reached until the deadline',
    todo: ['Look at the application in Argo CD: the rollout may be complete.', again],
  },
  superseded: { headline: 'Superseded by a newer deployment', todo: [] },
  cancelled: { headline: 'Cancelled on request', todo: [] },
  no_credential: {
    headline: 'No credential came with the task, so nothing was committed',
    todo: ['Send a deploy token or a JWT with the task.', 'Then deploy again.'],
  },
  not_managed: {
    headline: 'The application is not managed by this service',
    todo: ['Add the annotation watcher/managed: "true" to the application.', 'Then deploy again.'],
  },
  annotation_invalid: {
    headline: 'An annotation of the application is not valid',
    todo: ['Correct the annotation that the report names.', 'Then deploy again.'],
  },
  setting_missing: {
    headline: 'A setting of this service is missing',
    todo: ['Set what the report names, or ask the operators of this service.', 'Then deploy again.'],
  },
  git_refused: {
    headline: 'The Git host refused the commit',
    todo: ['Check the key, its rights and the protection of the branch.', 'Then deploy again.'],
  },
  git_unreachable: {
    headline: 'The Git host could not be reached',
    todo: ['Check that the Git host answers from where this service runs.', again],
  },
  override_file_invalid: {
    headline: 'The override file cannot be edited',
    todo: ['Correct the file that the report names in the GitOps repository.', 'Then deploy again.'],
  },
  no_replica: {
    headline: 'No replica of this service was alive to watch it',
    todo: ['Look at the application in Argo CD: the rollout may be complete.', 'Deploy again to be sure.'],
  },
}
