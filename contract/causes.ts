import type { FinalStatus } from './task-status.ts'

/** Who does a next step: who deploys the application, who runs Argo CD and the cluster, or who runs this service. */
export type Role = 'developer' | 'platform_team' | 'operator'

export type NextStep = { readonly actor: Role; readonly text: string }

type CauseEntry = {
  readonly status: FinalStatus
  /** It may mean a bad version: `on_failure: rollback` takes the commit back. */
  readonly rollsBack?: true
  readonly headline: string
  /** The headline once another version was deployed; absent where it is the same. */
  readonly past?: string
  /** In the order in which they are to be tried. */
  readonly nextSteps: readonly NextStep[]
}

export const developer = (text: string): NextStep => ({ actor: 'developer', text })
export const platformTeam = (text: string): NextStep => ({ actor: 'platform_team', text })
const operator = (text: string): NextStep => ({ actor: 'operator', text })

// The commit of a failed rollout stays, so the same tag makes no other one: what helps then is another tag or a change in Git.
export const redeploy = developer('Fix it and deploy a new tag.')
export const argoCdRetries = developer('Automated sync applies the fix; submit the deployment again to follow it.')
const submitAgain = developer('Then submit the deployment again.')
export const follow = developer('To follow the rest of the rollout, submit the deployment again.')

/**
 * Why a task did not end `deployed`. Codes are stable: one may be added, none changes its meaning. docs/causes.md is made from
 * this table.
 */
export const causes = {
  app_not_found: {
    status: 'app not found',
    headline: 'Argo CD has no application of this name, or this account may not read it',
    past: 'Argo CD had no application of this name, or hid it',
    nextSteps: [
      developer('Compare the name with Argo CD, letter by letter, then submit the deployment again.'),
      platformTeam('Or the service may not see it: allow "applications, get" for its project.'),
    ],
  },
  app_gone: {
    status: 'app not found',
    headline: 'The application was deleted during the rollout',
    nextSteps: [
      platformTeam('Create the application again, or allow this service to read it (applications, get).'),
      submitAgain,
    ],
  },
  image_pull: {
    status: 'failed',
    rollsBack: true,
    headline: 'The image cannot be pulled',
    past: 'The image could not be pulled',
    nextSteps: [
      developer('Check that this tag exists in the registry; once it does, the Pod starts by itself.'),
      developer('If the tag is wrong, deploy one that exists.'),
      platformTeam('Check that the cluster may pull it: pull secret, network, rate limit of the registry.'),
    ],
  },
  image_name: {
    status: 'failed',
    rollsBack: true,
    headline: 'The name of the image is not valid',
    past: 'The name of the image was not valid',
    nextSteps: [developer('Correct the name of the image or its tag, then submit the deployment again.')],
  },
  container_config: {
    status: 'failed',
    rollsBack: true,
    headline: 'A container cannot be created from its configuration',
    past: 'A container could not be created from its configuration',
    nextSteps: [
      developer('Create the Secret, ConfigMap or key that the message names; the Pod then starts by itself.'),
    ],
  },
  volume_unavailable: {
    status: 'failed',
    headline: 'A volume of the Pod is not available',
    past: 'A volume of the Pod was not available',
    nextSteps: [
      developer('Create what the message names, or correct its name in Git; the Pod then starts by itself.'),
      platformTeam('Check the storage class, the volume and its driver.'),
    ],
  },
  unschedulable: {
    status: 'failed',
    headline: 'The Pod cannot be scheduled',
    past: 'The Pod could not be scheduled',
    nextSteps: [
      platformTeam('Add or free a node that the Pod may use; the Pod then starts by itself.'),
      developer('If the Pod requests more than it needs, or other nodes, change that in Git.'),
    ],
  },
  quota_exceeded: {
    status: 'failed',
    headline: 'A quota of the namespace is exceeded',
    past: 'A quota of the namespace was exceeded',
    nextSteps: [
      platformTeam('Raise the quota, or remove what uses it; the Pods are then created without another commit.'),
      developer('If the Pods request more than they need, lower that in Git.'),
    ],
  },
  admission_denied: {
    status: 'failed',
    headline: 'The admission control of the cluster rejected the Pods',
    nextSteps: [
      developer('Change in Git what the message names.'),
      platformTeam('If the manifests are right, change the policy or the webhook.'),
    ],
  },
  crash_loop: {
    status: 'failed',
    rollsBack: true,
    headline: 'A container crashes repeatedly after it starts',
    past: 'A container crashed repeatedly after it started',
    nextSteps: [developer('Read the log of the container, then its configuration and secrets.'), redeploy],
  },
  probe_failing: {
    status: 'failed',
    rollsBack: true,
    headline: 'A container runs but does not become ready',
    past: 'A container ran but did not become ready',
    nextSteps: [developer('Check the response of its readiness probe, and the log of the container.'), redeploy],
  },
  degraded: {
    status: 'failed',
    rollsBack: true,
    headline: 'The application stayed Degraded',
    nextSteps: [developer('Open the resource in Argo CD and read its events.'), redeploy],
  },
  hook_failed: {
    status: 'failed',
    rollsBack: true,
    headline: 'A sync hook failed',
    nextSteps: [developer('Read the log of the hook and fix it in Git.'), argoCdRetries],
  },
  operation_waiting: {
    status: 'failed',
    headline: 'The sync operation still waits',
    past: 'The sync operation still waited',
    nextSteps: [developer('Open in Argo CD what the operation waits for.'), follow],
  },
  sync_error: {
    status: 'failed',
    rollsBack: true,
    headline: 'Argo CD could not apply the manifests',
    nextSteps: [developer('Fix in Git what the message names.'), argoCdRetries],
  },
  terminated: {
    status: 'failed',
    headline: 'The sync was terminated in Argo CD',
    nextSteps: [developer('Ask who terminated it, and sync the application in Argo CD when it may run.'), submitAgain],
  },
  comparison_error: {
    status: 'failed',
    headline: 'Argo CD could not render or compare the manifests',
    nextSteps: [developer('Fix the manifests or the override file in Git.'), argoCdRetries],
  },
  image_not_in_application: {
    status: 'failed',
    headline: 'The image is not part of the application',
    past: 'The image was not part of the application',
    nextSteps: [
      developer('Compare the image with the images of the application, then submit the deployment again.'),
      developer('If Argo CD cannot show the image, set the annotation skip-image-validation.'),
    ],
  },
  commit_without_effect: {
    status: 'failed',
    headline: 'The commit did not change the tag in the manifests',
    nextSteps: [
      platformTeam('Check that a source of the application reads the file of the commit.'),
      platformTeam('Check that the annotation manifest-generate-paths includes that file.'),
      developer('Check that the chart or kustomization uses what the annotations of the application name.'),
    ],
  },
  not_followed: {
    status: 'failed',
    headline: 'The application does not follow a branch to commit to',
    past: 'The application did not follow a branch to commit to',
    nextSteps: [
      developer('Set targetRevision to a branch that exists, or write-back-branch to the one it follows.'),
      submitAgain,
    ],
  },
  sync_window: {
    status: 'failed',
    headline: 'A sync window kept Argo CD from syncing',
    nextSteps: [
      developer('Wait for the end of the sync window; Argo CD then syncs by itself.'),
      platformTeam('Change the windows of the AppProject if it must not wait.'),
      follow,
    ],
  },
  manual_sync_required: {
    status: 'failed',
    headline: 'Manual sync required: automated sync is off',
    past: 'Manual sync was required: automated sync was off',
    nextSteps: [
      developer('Sync the application in Argo CD. This service itself never syncs.'),
      platformTeam('Switch on automated sync if it should not need a person.'),
      follow,
    ],
  },
  auto_sync_stopped: {
    status: 'failed',
    headline: 'Argo CD stopped automated sync of this revision',
    nextSteps: [developer('Fix in Git what the sync error names, or sync the application in Argo CD.'), follow],
  },
  suspended: {
    status: 'failed',
    headline: 'The application is Suspended: its rollout is paused',
    past: 'The application was Suspended: its rollout was paused',
    nextSteps: [
      developer('Resume the rollout in Argo CD or in the cluster.'),
      operator('Set ACCEPT_SUSPENDED_APP, or the annotation accept-suspended, if paused counts as done.'),
      follow,
    ],
  },
  rollout_aborted: {
    status: 'failed',
    rollsBack: true,
    headline: 'The rollout was aborted',
    nextSteps: [
      developer('Read why it was aborted: events of the Rollout and its AnalysisRuns.'),
      developer('Deploy a fixed version with a new tag.'),
    ],
  },
  analysis_failed: {
    status: 'failed',
    rollsBack: true,
    headline: 'The analysis of the new version failed',
    nextSteps: [
      developer('Read the measurements of the metric in the AnalysisRun.'),
      developer('Deploy a fixed version with a new tag.'),
    ],
  },
  timeout: {
    status: 'failed',
    rollsBack: true,
    headline: 'The time ran out before the rollout was complete',
    nextSteps: [
      developer('Open the application in Argo CD and check what that condition names.'),
      developer('If it only needs more time, submit the deployment again with a longer timeout.'),
    ],
  },
  controller_unreachable: {
    status: 'aborted',
    headline: 'The outcome could not be confirmed before the timeout',
    nextSteps: [
      developer('Open the application in Argo CD: the rollout may be complete.'),
      operator('Check that Argo CD answers from where this service runs.'),
    ],
  },
  controller_silent: {
    status: 'aborted',
    headline: "Argo CD's controller answers no refresh",
    past: "Argo CD's controller answered no refresh",
    nextSteps: [
      platformTeam('Check that the application controller of Argo CD runs and processes this application.'),
      developer('Open the application in Argo CD: the rollout may be complete.'),
    ],
  },
  superseded: { status: 'cancelled', headline: 'Superseded by a newer deployment', nextSteps: [] },
  cancelled: { status: 'cancelled', headline: 'Cancelled on request', nextSteps: [] },
  no_credential: {
    status: 'failed',
    headline: 'No credential came with the deployment, so nothing was committed',
    nextSteps: [developer('Submit the deployment again with a deploy token or a JWT.')],
  },
  not_managed: {
    status: 'failed',
    headline: 'The application is not managed by this service',
    past: 'The application was not managed by this service',
    nextSteps: [developer('Set the annotation managed on the application, or commit the tag yourself.'), submitAgain],
  },
  annotation_invalid: {
    status: 'failed',
    headline: 'An annotation of the application is not valid',
    past: 'An annotation of the application was not valid',
    nextSteps: [developer('Correct the annotation that the message names, then submit the deployment again.')],
  },
  setting_missing: {
    status: 'failed',
    headline: 'This service lacks a setting for the repository',
    past: 'This service lacked a setting for the repository',
    nextSteps: [operator('Set the setting that the message names.'), submitAgain],
  },
  git_refused: {
    status: 'failed',
    headline: 'The Git host rejected the commit',
    nextSteps: [
      platformTeam(
        'Read the message: a branch rule or a hook rejected the push. Allow it for the user of this service.',
      ),
      submitAgain,
    ],
  },
  git_access_denied: {
    status: 'failed',
    headline: 'The Git host denied access',
    nextSteps: [
      platformTeam('Register the key or token there, with the right to push: a deploy key can only read by default.'),
      submitAgain,
    ],
  },
  git_host_key: {
    status: 'failed',
    headline: 'The identity of the Git host could not be verified',
    nextSteps: [
      operator('Compare its host key with SSH_KNOWN_HOSTS, or its certificate with GIT_CA_FILE.'),
      submitAgain,
    ],
  },
  git_repository_missing: {
    status: 'failed',
    headline: 'The Git host has no repository to commit to at this address',
    past: 'The Git host had no repository to commit to at this address',
    nextSteps: [
      developer('Check the address: the repository is missing, hidden from the key, archived, moved or uses SHA-256.'),
      submitAgain,
    ],
  },
  git_unreachable: {
    status: 'failed',
    headline: 'The Git host could not be reached in time',
    nextSteps: [operator('Check that the Git host answers from where this service runs.'), submitAgain],
  },
  cache_unusable: {
    status: 'failed',
    headline: 'This service could not use its own disk or start git',
    nextSteps: [
      operator('Check the disk of REPO_CACHE_PATH, and the limits of processes and files, of each replica.'),
      submitAgain,
    ],
  },
  override_file_invalid: {
    status: 'failed',
    headline: 'The file for the tag cannot be edited',
    past: 'The file for the tag could not be edited',
    nextSteps: [
      developer('Correct the file that the message names in the GitOps repository, then submit the deployment again.'),
    ],
  },
  values_key_missing: {
    status: 'failed',
    headline: 'The file for the tag has no such key',
    past: 'The file for the tag had no such key',
    nextSteps: [
      developer('Add the key to the file that the message names, or correct the annotation that names the key.'),
      submitAgain,
    ],
  },
  rollback_outdated: {
    status: 'cancelled',
    headline: 'The file had changed before the rollback',
    nextSteps: [developer('Check which version the file has now; to return to another one, deploy it.')],
  },
  no_replica: {
    status: 'aborted',
    headline: 'The deployment timed out while no replica watched it',
    nextSteps: [
      developer('Open the application in Argo CD; submit the deployment again unless it runs the requested images.'),
      operator('Find out why no replica was running, or why none could reach the database.'),
    ],
  },
} as const satisfies Record<string, CauseEntry>

export type Cause = keyof typeof causes
export const causeCodes = Object.keys(causes) as [Cause, ...Cause[]]
export const isCause = (code: string): code is Cause => Object.hasOwn(causes, code)
export const causeOf = (code: Cause): CauseEntry => causes[code]

/** What a message adds to them is the same in other words. */
export const selfExplaining: ReadonlySet<Cause> = new Set<Cause>(['no_credential', 'terminated', 'controller_silent'])

/** Ends that came before or instead of the commit. */
export const causesOfCommit: ReadonlySet<Cause> = new Set<Cause>([
  'not_managed',
  'annotation_invalid',
  'setting_missing',
  'git_refused',
  'git_access_denied',
  'git_host_key',
  'git_repository_missing',
  'git_unreachable',
  'cache_unusable',
  'override_file_invalid',
  'values_key_missing',
  'no_credential',
  'not_followed',
])
export const pastHeadlineOf = (code: Cause): string => causeOf(code).past ?? causeOf(code).headline
