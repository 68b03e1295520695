import { expect, test } from 'vitest'
import { type Cause, causeCodes, causeOf } from '../causes.ts'
import { exampleDiagnosis, exampleEndSeconds } from './example-diagnoses.ts'
import { renderReport } from './render-diagnosis.ts'

/** What broke, where, whether the version before serves, and who does what now (npx vitest run contract/text/reports.test.ts -u). */
const reports: Readonly<Record<Cause, (report: string) => void>> = {
  app_not_found: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "Argo CD has no application of this name, or this account may not read it [app_not_found]
      Next step 1 (developer): Compare the name with Argo CD, letter by letter, then submit the deployment again.
      Next step 2 (platform team): Or the service may not see it: allow "applications, get" for its project."
    `),
  app_gone: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "The application was deleted during the rollout [app_gone]
      Next step 1 (platform team): Create the application again, or allow this service to read it (applications, get).
      Next step 2 (developer): Then submit the deployment again."
    `),
  image_pull: (report) =>
    expect(report).toMatchInlineSnapshot(`
    "Image registry.example/shop:2 cannot be pulled: not found [image_pull]
    Culprit: Pod web-74796dcf9f-8ggf2, container web: ImagePullBackOff: Failed to pull image "registry.example/shop:2": rpc error: code = NotFound desc = failed to pull and unpack image "registry.example/shop:2": failed to resolve reference "registry.example/shop:2": registry.example/shop:2: not found
    Impact: the old version still serves: 2 of 2 Pods ready
    Next step 1 (developer): Check that this tag exists in the registry; once it does, the Pod starts by itself.
    Next step 2 (developer): If the tag is wrong, deploy one that exists.
    Next step 3 (platform team): Check that the cluster may pull it: pull secret, network, rate limit of the registry."
  `),
  image_name: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "Image name "registry.example/shop:V_1 " is not valid: invalid reference format [image_name]
      Culprit: Pod web-74796dcf9f-8ggf2, container web: InvalidImageName: Failed to apply default image "registry.example/shop:V_1 ": invalid reference format
      Impact: the old version still serves: 2 of 2 Pods ready
      Next step 1 (developer): Correct the name of the image or its tag, then submit the deployment again."
    `),
  container_config: (report) =>
    expect(report).toMatchInlineSnapshot(`
    "Container web cannot be created: Secret shop-database not found [container_config]
    Culprit: Pod web-74796dcf9f-8ggf2, container web: CreateContainerConfigError: secret "shop-database" not found
    Impact: the old version still serves: 2 of 2 Pods ready
    Next step 1 (developer): Create the Secret, ConfigMap or key that the message names; the Pod then starts by itself."
  `),
  volume_unavailable: (report) =>
    expect(report).toMatchInlineSnapshot(`
    "PersistentVolumeClaim shop-data is not bound: storage class fast not found [volume_unavailable]
    Culprit: PersistentVolumeClaim shop-data: ProvisioningFailed: storageclass.storage.k8s.io "fast" not found
    Impact: the old version still serves: 2 of 2 Pods ready
    Next step 1 (platform team): Check the storage class, the volume and its driver; the Pod then starts by itself.
    Next step 2 (developer): If the claim names the wrong storage class or volume, correct it in Git."
  `),
  unschedulable: (report) =>
    expect(report).toMatchInlineSnapshot(`
    "Pod cannot be scheduled: 0/3 nodes available, insufficient CPU, taint dedicated: gpu [unschedulable]
    Culprit: Pod web-74796dcf9f-8ggf2: FailedScheduling: 0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {dedicated: gpu}. preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.
    Impact: the old version still serves: 2 of 2 Pods ready
    Next step 1 (platform team): Add or free a node that the Pod may use; the Pod then starts by itself.
    Next step 2 (developer): If the Pod requests more than it needs, or other nodes, change that in Git."
  `),
  quota_exceeded: (report) =>
    expect(report).toMatchInlineSnapshot(`
    "ReplicaSet web-769b49cc84 cannot create Pods: quota team exceeded (pods: 2 of 2 used) [quota_exceeded]
    Culprit: ReplicaSet web-769b49cc84: FailedCreate: pods "web-769b49cc84-s62pp" is forbidden: exceeded quota: team, requested: pods=1, used: pods=2, limited: pods=2
    Impact: the old version still serves: 2 of 2 Pods ready
    Next step 1 (platform team): Raise the quota, or remove what uses it; the Pods are then created without another commit.
    Next step 2 (developer): If the Pods request more than they need, lower that in Git."
  `),
  admission_denied: (report) =>
    expect(report).toMatchInlineSnapshot(`
    "Pods of ReplicaSet web-769b49cc84 are rejected by Pod Security restricted: allowPrivilegeEscalation != false, runAsNonR… [admission_denied]
    Culprit: ReplicaSet web-769b49cc84: FailedCreate: pods "web-769b49cc84-ptgx7" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "shop" must set securityContext.allowPrivilegeEscalation=false), runAsNonRoot != true (pod or container "shop" must set securityContext.runAsNonRoot=true)
    Impact: the old version still serves: 2 of 2 Pods ready
    Next step 1 (developer): Change in Git what the message names.
    Next step 2 (platform team): If the manifests are right, change the policy."
  `),
  crash_loop: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "Container web crashes on start: exit code 1, 4 times in 2 min [crash_loop]
      Culprit: Pod web-74796dcf9f-8ggf2, container web: CrashLoopBackOff: back-off 1m20s restarting failed container=web pod=web-74796dcf9f-8ggf2
      Impact: the old version still serves: 2 of 2 Pods ready
      Next step 1 (developer): Read the log of the container, then its configuration and secrets.
      Next step 2 (developer): Fix it and deploy a new tag."
    `),
  probe_failing: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "Container web is not ready: readiness probe returns 503 [probe_failing]
      Culprit: Pod web-74796dcf9f-8ggf2, container web: Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 503
      Impact: the old version still serves: 2 of 2 Pods ready
      Next step 1 (developer): Check the response of its readiness probe, and the log of the container.
      Next step 2 (developer): Fix it and deploy a new tag."
    `),
  degraded: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "Deployment worker is Degraded: exceeded its progress deadline [degraded]
      Next step 1 (developer): Open Deployment worker in Argo CD and read its events.
      Next step 2 (developer): Fix it and deploy a new tag."
    `),
  hook_failed: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "Hook Job migrate failed: reached the specified backoff limit [hook_failed]
      Next step 1 (developer): Read the log of Job migrate and fix the hook in Git.
      Next step 2 (developer): Automated sync applies the fix; submit the deployment again to follow it."
    `),
  operation_waiting: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "The sync waits for hook Job migrate to complete [operation_waiting]
      Culprit: Job migrate: waiting for completion of hook batch/Job/migrate
      Next step 1 (developer): Read the log of Job migrate: the sync continues once it completes.
      Next step 2 (developer): To follow the rest of the rollout, submit the deployment again.
      Condition not met for 300s: operation: expected a successful operation, found Running"
    `),
  sync_error: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "Deployment shop05 cannot be applied: spec.selector: field is immutable [sync_error]
      Culprit: Deployment shop05: error when patching "/dev/shm/256253623": Deployment.apps "shop05" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable
      Next step 1 (developer): Fix in Git what the message names.
      Next step 2 (developer): Automated sync applies the fix; submit the deployment again to follow it."
    `),
  terminated: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "The sync was terminated in Argo CD [terminated]
      Next step 1 (developer): Ask who terminated it, and sync the application in Argo CD when it may run.
      Next step 2 (developer): Then submit the deployment again."
    `),
  comparison_error: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "Argo CD cannot render the manifests: multiple application sources defined: Kustomize,Helm [comparison_error]
      Message: ComparisonError: Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = error getting app source type: multiple application sources defined: Kustomize,Helm
      Next step 1 (developer): Fix the manifests or the override file in Git.
      Next step 2 (developer): Automated sync applies the fix; submit the deployment again to follow it."
    `),
  image_not_in_application: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "Image registry.example/shop is not part of the application [image_not_in_application]
      Message: registry.example/shop is not among its images: registry.example/cart:v1
      Next step 1 (developer): Compare the image with the images of the application, then submit the deployment again.
      Next step 2 (developer): If Argo CD cannot show the image, set the annotation skip-image-validation."
    `),
  commit_without_effect: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "The commit did not change the tag in the manifests: the manifests still declare registry.example/shop:1.0.0 [commit_without_effect]
      Next step 1 (platform team): Check that a source of the application reads the file of the commit.
      Next step 2 (platform team): Check that the annotation manifest-generate-paths includes that file.
      Next step 3 (developer): Check that the chart or kustomization uses what the annotations of the application name."
    `),
  not_followed: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "The application does not follow a branch to commit to: no source of the application follows the branch "release" [not_followed]
      Next step 1 (developer): Set targetRevision to a branch that exists, or write-back-branch to the one it follows.
      Next step 2 (developer): Then submit the deployment again."
    `),
  sync_window: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "A sync window kept Argo CD from syncing: automated sync is blocked by an active deny window "0 22 * * *" of 8h [sync_window]
      Next step 1 (developer): Wait for the end of the sync window; Argo CD then syncs by itself.
      Next step 2 (platform team): Change the windows of the AppProject if it must not wait.
      Next step 3 (developer): To follow the rest of the rollout, submit the deployment again."
    `),
  manual_sync_required: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "Manual sync required: automated sync is off [manual_sync_required]
      Next step 1 (developer): Sync the application in Argo CD. This service itself never syncs.
      Next step 2 (platform team): Switch on automated sync if it should not need a person.
      Next step 3 (developer): To follow the rest of the rollout, submit the deployment again."
    `),
  auto_sync_stopped: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "Argo CD stopped automated sync: Deployment shop05: spec.selector: field is immutable [auto_sync_stopped]
      Message: Failed last sync attempt to [c8793b53512c13e51aaa3d6e8df598002031872d]: one or more objects failed to apply, reason: error when patching "/dev/shm/256253623": Deployment.apps "shop05" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable (retried 1 times).
      Next step 1 (developer): Fix in Git what the sync error names, or sync the application in Argo CD.
      Next step 2 (developer): To follow the rest of the rollout, submit the deployment again."
    `),
  suspended: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "Rollout shop is paused at a canary step and waits for a person [suspended]
      Culprit: Rollout shop: CanaryPauseStep
      Impact: the stable version still serves: 2 of 2 Pods ready
      Next step 1 (developer): To let it go on, run: kubectl argo rollouts promote shop -n shop
      Next step 2 (operator of this service): Set ACCEPT_SUSPENDED_APP, or the annotation accept-suspended, if paused counts as done.
      Next step 3 (developer): To follow the rest of the rollout, submit the deployment again.
      Condition not met for 300s: healthy: expected Healthy, found Suspended"
    `),
  rollout_aborted: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "Rollout shop was aborted [rollout_aborted]
      Culprit: Rollout shop: RolloutAborted: Rollout aborted update to revision 3
      Impact: the stable version still serves: 2 of 2 Pods ready
      Next step 1 (developer): Find in the events of Rollout shop who or what aborted it.
      Next step 2 (developer): To try this version again, run: kubectl argo rollouts retry rollout shop -n shop
      Next step 3 (developer): If the version is at fault, deploy a fixed one with a new tag."
    `),
  analysis_failed: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "Rollout shop was aborted: metric success-rate failed (2 > limit 1) [analysis_failed]
      Culprit: AnalysisRun shop-7d9f8c6b5-3-1: RolloutAborted: Rollout aborted update to revision 3: Step-based analysis phase error/failed: Metric "success-rate" assessed Failed due to failed (2) > failureLimit (1)
      Impact: the stable version still serves: 2 of 2 Pods ready
      Next step 1 (developer): Read the measurements of the metric in AnalysisRun shop-7d9f8c6b5-3-1.
      Next step 2 (developer): To try this version again, run: kubectl argo rollouts retry rollout shop -n shop
      Next step 3 (developer): If the version is at fault, deploy a fixed one with a new tag."
    `),
  timeout: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "Ingress shop is still Progressing [timeout]
      Impact: the old version still serves: 2 of 2 Pods ready
      Next step 1 (platform team): Check why Ingress shop gets no address: its class, its controller or the load balancer.
      Next step 2 (developer): To follow the rest of the rollout, submit the deployment again."
    `),
  controller_unreachable: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "The outcome is not confirmed: Argo CD is unreachable: connection refused [controller_unreachable]
      Next step 1 (developer): Open the application in Argo CD: the rollout may be complete.
      Next step 2 (operator of this service): Check that Argo CD answers from where this service runs.
      Argo CD was unreachable for the last 300s"
    `),
  controller_silent: (report) =>
    expect(report).toMatchInlineSnapshot(`
    "Argo CD's controller answers no refresh [controller_silent]
    Next step 1 (platform team): Check that the application controller of Argo CD runs and processes this application.
    Next step 2 (developer): Open the application in Argo CD: the rollout may be complete."
  `),
  superseded: (report) =>
    expect(report).toMatchInlineSnapshot(`"superseded by task 019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11"`),
  cancelled: (report) => expect(report).toMatchInlineSnapshot(`"Cancelled on request"`),
  no_credential: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "No credential came with the deployment, so nothing was committed [no_credential]
      Next step 1 (developer): Submit the deployment again with a deploy token or a JWT."
    `),
  not_managed: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "The application is not managed by this service: no annotation managed = "true" on the application [not_managed]
      Next step 1 (developer): Set the annotation managed on the application, or commit the tag yourself.
      Next step 2 (developer): Then submit the deployment again."
    `),
  annotation_invalid: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "An annotation of the application is not valid: missing annotation web.helm.image-tag for alias "web" [annotation_invalid]
      Next step 1 (developer): Correct the annotation that the message names, then submit the deployment again."
    `),
  setting_missing: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "This service lacks a setting for the repository: GIT_CREDENTIALS has no entry for git.example [setting_missing]
      Next step 1 (operator of this service): Set the setting that the message names.
      Next step 2 (developer): Then submit the deployment again."
    `),
  git_refused: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "The Git host rejected the commit: remote: GitLab: You are not allowed to push code to protected branches [git_refused]
      Next step 1 (platform team): Read the message: a branch rule or a hook rejected the push. Allow it for the user of this service.
      Next step 2 (developer): Then submit the deployment again."
    `),
  git_access_denied: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "The Git host denied access: git.example denied access: git@git.example: Permission denied (publickey). [git_access_denied]
      Next step 1 (platform team): Register the key or token there, with the right to push: a deploy key can only read by default.
      Next step 2 (developer): Then submit the deployment again."
    `),
  git_host_key: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "The identity of the Git host could not be verified: host key unknown for git.example: SSH_KNOWN_HOSTS does not name it,… [git_host_key]
      Message: host key unknown for git.example: SSH_KNOWN_HOSTS does not name it, add it
      Next step 1 (operator of this service): Compare its host key with SSH_KNOWN_HOSTS, or its certificate with GIT_CA_FILE.
      Next step 2 (developer): Then submit the deployment again."
    `),
  git_repository_missing: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "The Git host has no repository to commit to at this address: git.example has no repository at this address that the key… [git_repository_missing]
      Message: git.example has no repository at this address that the key or token can see
      Next step 1 (developer): Check the address: the repository is missing, hidden from the key, archived, moved or uses SHA-256.
      Next step 2 (developer): Then submit the deployment again."
    `),
  git_unreachable: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "The Git host could not be reached in time: git.example cannot be reached: ssh: connect to host git.example port 22: Con… [git_unreachable]
      Message: nothing was committed before the timeout: git.example cannot be reached: ssh: connect to host git.example port 22: Connection refused
      Next step 1 (operator of this service): Check that the Git host answers from where this service runs.
      Next step 2 (developer): Then submit the deployment again."
    `),
  cache_unusable: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "This service could not use its own disk or start git: the cache cannot be written: No space left on device [cache_unusable]
      Next step 1 (operator of this service): Check the disk of REPO_CACHE_PATH, and the limits of processes and files, of each replica.
      Next step 2 (developer): Then submit the deployment again."
    `),
  override_file_invalid: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "The file for the tag cannot be edited: the file deploy/shop/.argocd-source-shop.yaml must have a list under helm.parame… [override_file_invalid]
      Message: the file deploy/shop/.argocd-source-shop.yaml must have a list under helm.parameters
      Next step 1 (developer): Correct the file that the message names in the GitOps repository, then submit the deployment again."
    `),
  values_key_missing: (report) =>
    expect(report).toMatchInlineSnapshot(`
    "The file for the tag has no such key: the file deploy/shop/values-prod.yaml has no image.tag: the nearest that exists i… [values_key_missing]
    Message: the file deploy/shop/values-prod.yaml has no image.tag: the nearest that exists is image, with repository, pullPolicy
    Next step 1 (developer): Add the key to the file that the message names, or correct the annotation that names the key.
    Next step 2 (developer): Then submit the deployment again."
  `),
  rollback_outdated: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "The file had changed before the rollback; apps/shop/values.yaml has image.tag 1.3.0, not 1.2.0 of the failed deployment
      Next step 1 (developer): Check which version the file has now; to return to another one, deploy it."
    `),
  no_replica: (report) =>
    expect(report).toMatchInlineSnapshot(`
      "The deployment timed out while no replica watched it [no_replica]
      Next step 1 (developer): Open the application in Argo CD; submit the deployment again unless it runs the requested images.
      Next step 2 (operator of this service): Find out why no replica was running, or why none could reach the database."
    `),
}

test.for(causeCodes)('the whole report of %s', (cause) =>
  reports[cause](renderReport(causeOf(cause).status, exampleDiagnosis(cause), exampleEndSeconds)),
)
