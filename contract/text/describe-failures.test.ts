import { describe, expect, test } from 'vitest'
import { type ArgoCdFault, argoCdFault } from './argo-cd-fault.ts'
import { describeAbort, rolloutOfAnalysisRun } from './describe-abort.ts'
import { describeArgoCdFailure } from './describe-argo-cd-failure.ts'
import { describeContainerFailure } from './describe-container-failure.ts'
import { describeProbe } from './describe-probe.ts'
import { describePullFailure } from './describe-pull-failure.ts'
import { describeSchedulingFailure } from './describe-scheduling-failure.ts'
import { parseVolumeFailure } from './describe-volume-failure.ts'
import { parseRejection } from './parse-rejection.ts'

type Rows = readonly (readonly [message: string, words: string])[]

describe('a probe that fails', () => {
  test.for<readonly ['readiness' | 'liveness' | 'startup', string, string]>([
    ['readiness', 'Readiness probe failed: HTTP probe failed with statuscode: 503', 'readiness probe returns 503'],
    [
      'readiness',
      'Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 404',
      'readiness probe returns 404',
    ],
    ['liveness', 'Liveness probe failed: HTTP probe failed with statuscode: 503', 'liveness probe fails (503)'],
    [
      'liveness',
      'Liveness probe failed: Get "http://10.0.0.7:8080/healthz": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
      'liveness probe times out',
    ],
    [
      'readiness',
      'Readiness probe failed: Get "http://10.0.0.7:8080/": dial tcp 10.0.0.7:8080: connect: connection refused',
      'readiness probe fails (connection refused)',
    ],
    ['startup', 'Startup probe failed: dial tcp 10.0.0.7:5432: i/o timeout', 'startup probe times out'],
    [
      'readiness',
      'Readiness probe failed: Get "https://10.0.0.7:8443/": http: server gave HTTP response to HTTPS client',
      'readiness probe fails: server gave HTTP response to HTTPS client',
    ],
    [
      'readiness',
      'Readiness probe failed: cat: /tmp/ready: No such file or directory',
      'readiness probe fails: cat: /tmp/ready: No such file or directory',
    ],
    [
      'liveness',
      'Liveness probe failed: command timed out: "sh -c check" timed out after 1s',
      'liveness probe times out',
    ],
    [
      'readiness',
      'Readiness probe failed: service unhealthy (responded with "NOT_SERVING")',
      'readiness probe fails: service unhealthy (responded with "NOT_SERVING")',
    ],
    [
      'readiness',
      'Readiness probe failed: timeout: failed to connect service "10.0.0.7:9090" within 1s: context deadline exceeded',
      'readiness probe times out',
    ],
    [
      'readiness',
      'Readiness probe errored and resulted in unknown state: rpc error: code = NotFound desc = failed to exec in container: not found',
      'readiness probe fails: failed to exec in container: not found',
    ],
    ['readiness', 'Readiness probe failed: ', 'readiness probe fails'],
    ['readiness', 'its readiness probe has not succeeded', 'readiness probe has not succeeded'],
    ['liveness', 'back-off 10s restarting failed container', 'liveness probe fails'],
  ])('%s: %s', ([probe, message, words]) => expect(describeProbe(probe, message)).toBe(words))
})

describe('an image that cannot be pulled', () => {
  const failed = 'Failed to pull image "registry.example/shop:2": '
  test.for<Rows[number]>([
    [
      'Failed to pull image "registry.example/migrate:2-pull": rpc error: code = NotFound desc = failed to pull and unpack image "registry.example/migrate:2-pull": failed to resolve reference "registry.example/migrate:2-pull": registry.example/migrate:2-pull: not found',
      'not found',
    ],
    ['Back-off pulling image "registry.example/shop:1.0.1-bad"', ''],
    ['Back-off pulling image "registry.example/timeout-denied:2"', ''],
    ['Error: ImagePullBackOff', ''],
    [
      'Back-off pulling image "registry.example/shop:2": ErrImagePull: failed to resolve reference "registry.example/shop:2": registry.example/shop:2: not found',
      'not found',
    ],
    [`${failed}manifest unknown`, 'not found'],
    [
      `${failed}rpc error: code = Unknown desc = failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized`,
      'access denied',
    ],
    [
      `${failed}rpc error: code = Unknown desc = failed to resolve reference: pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed`,
      'not found, or access denied',
    ],
    [
      `${failed}rpc error: code = Unknown desc = failed to copy: httpReadSeeker: failed open: unexpected status code 429 Too Many Requests - Server message: toomanyrequests: You have reached your pull rate limit.`,
      'rate limit of the registry reached',
    ],
    [
      `${failed}failed to do request: Head "https://registry.example/v2/": dial tcp 10.0.0.9:443: i/o timeout`,
      'the registry times out',
    ],
    [
      `${failed}failed to do request: Head "https://registry.example/v2/": dial tcp: lookup registry.example on 10.96.0.10:53: no such host`,
      'no such host',
    ],
    [
      `${failed}failed to do request: Head "https://registry.example/v2/": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
      'certificate of the registry is not trusted',
    ],
    [
      `${failed}failed to do request: Head "http://registry.example/v2/": dial tcp 10.0.0.9:80: connect: connection refused`,
      'no connection to the registry',
    ],
    [`${failed}no match for platform in manifest: not found`, 'it does not support the platform of the node'],
    [`${failed}write /var/lib/containerd/tmp: no space left on device`, 'no space left on the node'],
    [
      'ErrImageNeverPull: Container image "registry.example/shop:2" is not present with pull policy of Never',
      'Container image "registry.example/shop:2" is not present with pull policy of Never',
    ],
  ])('%s', ([message, words]) => expect(describePullFailure(message)).toBe(words))
})

describe('a Pod that cannot be scheduled', () => {
  test.for<Rows[number]>([
    [
      '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.',
      '0/1 nodes available, insufficient CPU',
    ],
    [
      '0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient memory. preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.',
      '0/3 nodes available, insufficient memory, taint node-role.kubernetes.io/control-plane',
    ],
    [
      "0/2 nodes are available: 1 node(s) had taint {dedicated: gpu}, that the pod didn't tolerate, 1 Insufficient nvidia.com/gpu.",
      '0/2 nodes available, insufficient nvidia.com/gpu, taint dedicated: gpu',
    ],
    [
      "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
      '0/3 nodes available, node affinity or selector does not match',
    ],
    [
      "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules. preemption: none.",
      '0/3 nodes available, Pod anti-affinity',
    ],
    [
      '0/2 nodes are available: 2 node(s) had volume node affinity conflict.',
      '0/2 nodes available, volume is in another zone',
    ],
    [
      "0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod ports.",
      '0/2 nodes available, host port is in use',
    ],
    ['0/2 nodes are available: 2 node(s) were unschedulable.', '0/2 nodes available, node is cordoned'],
    ['0/2 nodes are available: 2 Too many pods.', '0/2 nodes available, too many Pods on the node'],
    [
      '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found',
      '0/1 nodes available, unbound PersistentVolumeClaim',
    ],
    ['0/1 nodes are available: 1 node(s) had a reason of tomorrow.', '0/1 nodes available, had a reason of tomorrow'],
    ['no nodes available to schedule pods', 'no nodes available to schedule pods'],
  ])('%s', ([message, words]) => expect(describeSchedulingFailure(message)).toBe(words))
})

describe('a volume that is not available', () => {
  test.for<readonly [string, object]>([
    [
      'MountVolume.SetUp failed for volume "files" : configmap "shop-files-v2" not found',
      { volume: 'files', does: 'cannot be mounted', why: 'ConfigMap shop-files-v2 not found' },
    ],
    [
      'FailedMount: MountVolume.SetUp failed for volume "files" : references non-existent config key: settings.json',
      { volume: 'files', does: 'cannot be mounted', why: 'key settings.json not found' },
    ],
    [
      'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) web-1',
      { volume: 'pvc-1', does: 'cannot be attached', why: 'another Pod on another node uses it' },
    ],
    [
      'AttachVolume.Attach failed for volume "pvc-1" : rpc error: code = Internal desc = Could not attach volume "vol-1" to node "i-1": not in the same zone',
      {
        volume: 'pvc-1',
        does: 'cannot be attached',
        why: 'Could not attach volume "vol-1" to node "i-1": not in the same zone',
      },
    ],
    [
      'Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[data kube-api-access-x]: timed out waiting for the condition',
      { volume: 'data', does: 'cannot be mounted', why: 'timed out' },
    ],
    [
      'MountVolume.MountDevice failed for volume "pvc-1" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name csi.example not found in the list of registered CSI drivers',
      { volume: 'pvc-1', does: 'cannot be mounted', why: 'CSI driver csi.example is not on the node' },
    ],
    ['storageclass.storage.k8s.io "fast" not found', { volume: undefined, why: 'storage class fast not found' }],
    [
      'no persistent volumes available for this claim and no storage class is set',
      { volume: undefined, why: 'no PersistentVolume is available, and no storage class is set' },
    ],
    [
      '0/1 nodes are available: persistentvolumeclaim "shop-data" not found. not found',
      { volume: undefined, why: 'PersistentVolumeClaim shop-data not found' },
    ],
    [
      '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found',
      { volume: undefined, why: 'a PersistentVolumeClaim is not bound' },
    ],
  ])('%s', ([message, parsed]) => expect(parseVolumeFailure(message)).toMatchObject(parsed))
})

describe('a container that cannot be created or started', () => {
  test.for<Rows[number]>([
    ['secret "shop-database" not found', 'Secret shop-database not found'],
    ["couldn't find key password in Secret shop/shop-database", 'Secret shop-database has no key password'],
    [
      'Error: failed to generate container "9f2c4d0a1be7" spec: failed to generate spec: failed to mkdir "/srv/cache": mkdir /srv/cache: read-only file system',
      'failed to mkdir "/srv/cache": mkdir /srv/cache: read-only file system',
    ],
    [
      'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "/app/serve": stat /app/serve: no such file or directory: unknown',
      '/app/serve: no such file or directory',
    ],
    [
      'container has runAsNonRoot and image will run as root (pod: "web-1_shop(1)", container: web)',
      'it must not run as root, but its image does',
    ],
  ])('%s', ([message, words]) => expect(describeContainerFailure(message)).toBe(words))
})

describe('what an API server rejects', () => {
  test.for<readonly [string, object | undefined]>([
    [
      'pods "web-769b49cc84-s62pp" is forbidden: exceeded quota: team, requested: pods=1, used: pods=2, limited: pods=2',
      { by: 'quota', words: 'quota team exceeded (pods: 2 of 2 used)' },
    ],
    [
      'Error creating: pods "web-1" is forbidden: exceeded quota: team, requested: limits.memory=2Gi,pods=1, used: limits.memory=7Gi,pods=9, limited: limits.memory=8Gi,pods=9',
      { by: 'quota', words: 'quota team exceeded (limits.memory: 7Gi of 8Gi used, 2Gi requested; pods: 9 of 9 used)' },
    ],
    [
      'pods "web-1" is forbidden: failed quota: team: must specify limits.cpu for: web; limits.memory for: web',
      { by: 'quota_rule', words: 'quota team requires limits.cpu' },
    ],
    [
      'pods "web-769b49cc84-ptgx7" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "shop" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "shop" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "shop" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "shop" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
      {
        by: 'pod_security',
        words:
          'by Pod Security restricted: allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile',
      },
    ],
    [
      'Internal error occurred: failed calling webhook "validate.acme.example": failed to call webhook: Post "https://127.0.0.1:9/validate?timeout=3s": dial tcp 127.0.0.1:9: connect: connection refused',
      { by: 'webhook_down', words: 'admission webhook validate.acme.example does not answer: connection refused' },
    ],
    [
      'Internal error occurred: failed calling webhook "validate.acme.example": failed to call webhook: Post "https://acme.svc/validate": context deadline exceeded',
      { by: 'webhook_down', words: 'admission webhook validate.acme.example does not answer: timed out' },
    ],
    [
      'admission webhook "validate.kyverno.svc-fail" denied the request: image tag latest is not allowed',
      { by: 'webhook', words: 'by admission webhook validate.kyverno.svc-fail: image tag latest is not allowed' },
    ],
    [
      "pods \"web-1\" is forbidden: ValidatingAdmissionPolicy 'limits' with binding 'limits-binding' denied request: every container must set limits.memory",
      { by: 'policy', words: 'by admission policy limits: every container must set limits.memory' },
    ],
    [
      'pods "web-1" is forbidden: error looking up service account shop/web: serviceaccount "web" not found',
      { by: 'other', words: 'ServiceAccount web not found' },
    ],
    ['Deployment "web" exceeded its progress deadline', undefined],
  ])('%s', ([message, rejection]) => expect(parseRejection(message)).toEqual(rejection))
})

describe('what Argo CD could not compare or apply', () => {
  const compared =
    'ComparisonError: Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: '
  test.for<readonly [string, ArgoCdFault, string]>([
    [
      'one or more objects failed to apply, reason: error when patching "/dev/shm/256253623": Deployment.apps "shop05" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable (retried 1 times).',
      'manifests',
      'Deployment shop05: spec.selector: field is immutable',
    ],
    [
      'The Kubernetes API could not find example.org/Foo for requested resource shop05c/foo. Make sure the "Foo" CRD is installed on the destination cluster.',
      'missing_kind',
      'the cluster has no kind example.org/Foo',
    ],
    [
      'one or more synchronization tasks are not valid: failed to discover server resources for group version example.org/v1: the server could not find the requested resource (retried 1 times).',
      'missing_kind',
      'the cluster has no kind of example.org/v1',
    ],
    [
      'one or more objects failed to apply, reason: error when patching "/dev/shm/2262653794": Internal error occurred: failed calling webhook "validate.acme.example": failed to call webhook: Post "https://127.0.0.1:9/validate?timeout=3s": dial tcp 127.0.0.1:9: connect: connection refused. Retrying attempt #5 at 6:50PM.',
      'webhook_down',
      'admission webhook validate.acme.example does not answer: connection refused',
    ],
    [
      'admission webhook "validate.kyverno.svc-fail" denied the request: image tag latest is not allowed (retried 5 times).',
      'webhook',
      'rejected by admission webhook validate.kyverno.svc-fail: image tag latest is not allowed',
    ],
    [
      'deployments.apps "web" is forbidden: User "system:serviceaccount:argocd:argocd-application-controller" cannot patch resource "deployments" in API group "apps" in the namespace "shop"',
      'permission',
      'Argo CD may not patch deployments in the namespace shop',
    ],
    [
      "InvalidSpecError: application destination server 'https://kubernetes.default.svc' and namespace 'shop' do not match any of the allowed destinations in project 'team'",
      'project',
      'AppProject team does not allow namespace shop of this cluster',
    ],
    [
      "InvalidSpecError: application destination {https://kubernetes.default.svc shop} is not permitted in project 'team'",
      'project',
      "application destination {https://kubernetes.default.svc shop} is not permitted in project 'team'",
    ],
    [
      "InvalidSpecError: application repo https://git.example/gitops.git is not permitted in project 'team'",
      'project',
      "application repo https://git.example/gitops.git is not permitted in project 'team'",
    ],
    [
      'resource :Namespace is not permitted in project team',
      'project',
      'resource :Namespace is not permitted in project team',
    ],
    [
      'app is not allowed in project "team", or the project does not exist',
      'project',
      'app is not allowed in project "team", or the project does not exist',
    ],
    [
      `${compared}code = Unknown desc = unable to resolve 'main' to a commit SHA`,
      'revision',
      'the repository has no branch, tag or commit main',
    ],
    [
      `${compared}code = Unknown desc = failed to list refs: repository not found: https://git.example/gitops.git`,
      'repository',
      'failed to list refs: repository not found: https://git.example/gitops.git',
    ],
    [
      `${compared}code = Unknown desc = failed to list refs: authentication required: Repository not found.`,
      'repository',
      'failed to list refs: authentication required: Repository not found.',
    ],
    [
      `${compared}code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial tcp 10.96.12.3:8081: connect: connection refused"`,
      'repo_server',
      'the repo server of Argo CD does not answer: connection refused',
    ],
    [
      `${compared}code = Unknown desc = deploy/shop: app path does not exist`,
      'path',
      'deploy/shop: app path does not exist',
    ],
    [
      'ComparisonError: Failed to load live state: failed to get cluster info for "https://10.0.0.1:6443": error synchronizing cache state: dial tcp 10.0.0.1:6443: i/o timeout',
      'cluster',
      'error synchronizing cache state: dial tcp 10.0.0.1:6443: i/o timeout',
    ],
    [
      `${compared}code = Unknown desc = failed to execute helm template command: failed running helm: \`helm template . --name-template shop14 --namespace shop14 --kube-version 1.36.1 <api versions removed> --include-crds\` failed exit status 1: Error: shop/templates/x.yaml:1:13\n  executing "shop/templates/x.yaml" at <.Values.nope.deeper>:\n    nil pointer evaluating interface {}.deeper\n\nUse --debug flag to render out invalid YAML`,
      'manifests',
      'shop/templates/x.yaml:1:13 at <.Values.nope.deeper>: nil pointer evaluating interface {}.deeper',
    ],
    [
      `${compared}code = Unknown desc = error getting app source type: error while parsing source parameters: <path to cached source>/app/.argocd-source-shop14.yaml: json: cannot unmarshal number into Go struct field HelmParameter.helm.parameters.value of type string`,
      'manifests',
      'app/.argocd-source-shop14.yaml: json: cannot unmarshal number into Go struct field HelmParameter.helm.parameters.value of type string',
    ],
  ])('%s', ([message, fault, words]) =>
    expect({ fault: argoCdFault(message), words: describeArgoCdFailure(message) }).toEqual({ fault, words }),
  )
})

describe('a Rollout that was aborted', () => {
  const aborted = 'RolloutAborted: Rollout aborted update to revision 3'
  const metric = 'Metric "success-rate" assessed Failed due to failed (2) > failureLimit (1)'
  test.for<Rows[number]>([
    [aborted, ''],
    [`${aborted}: ${metric}`, 'metric success-rate failed (2 > limit 1)'],
    [`${aborted}: Step-based analysis phase error/failed: ${metric}`, 'metric success-rate failed (2 > limit 1)'],
    [`${aborted}: Background analysis phase error/failed: ${metric}`, 'metric success-rate failed (2 > limit 1)'],
    [
      'RolloutAborted: metric "success-rate" assessed Failed due to failed (1) > failureLimit (0)',
      'metric success-rate failed (1 > limit 0)',
    ],
    [
      `${aborted}: Metric "success-rate" assessed Error due to consecutiveErrors (5) > consecutiveErrorLimit (4): "Error Message: reflect: slice index out of range"`,
      'metric success-rate could not be measured (5 > limit 4)',
    ],
    [
      `${aborted}: ReplicaSet "shop-7d9f8c6b5" has timed out progressing.`,
      'ReplicaSet "shop-7d9f8c6b5" has timed out progressing.',
    ],
  ])('%s', ([message, words]) => expect(describeAbort(message)).toBe(words))

  test.for([
    ['shop-7d9f8c6b5-3', 'shop'],
    ['shop-7d9f8c6b5-3-1', 'shop'],
    ['web-shop-6f7b8c9d4f-12-2-success', 'web-shop'],
    ['shop-nightly-3', undefined],
    ['nightly', undefined],
  ])('AnalysisRun %s measures Rollout %s', ([name, rollout]) => expect(rolloutOfAnalysisRun(name ?? '')).toBe(rollout))
})
