import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import type { SourceFiles } from './git-view.ts'
import { type Manifest, toManifest, workloadSchema } from './manifest.ts'

const podTemplate = z.object({
  spec: workloadSchema.pick({ containers: true, initContainers: true }),
})
const objectSchema = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
  spec: z
    .object({
      replicas: z.number().optional(),
      schedule: z.string().optional(),
      template: podTemplate.optional(),
      jobTemplate: z.object({ spec: z.object({ template: podTemplate }) }).optional(),
    })
    .default({}),
})

/** The objects of Kubernetes in the YAML files of a folder itself; a document without a kind is not one. */
export function plainManifests(
  files: SourceFiles,
  application: { name: string; destinationNamespace: string },
): Manifest[] {
  const { name, destinationNamespace: namespace } = application
  return [...files]
    .filter(([file]) => /^[^/]*\.ya?ml$/.test(file) && !file.startsWith('kustomization.'))
    .flatMap(([, text]) => [...parseAllDocuments(text)])
    .flatMap((document) => objectSchema.safeParse(document.toJS()).data ?? [])
    .map((object) => toManifest(workloadOf(object), { name, namespace }))
}

function workloadOf({ apiVersion, kind, metadata, spec }: z.infer<typeof objectSchema>) {
  const template = spec.template ?? spec.jobTemplate?.spec.template
  const [version, group = ''] = apiVersion.split('/').reverse()
  return workloadSchema.parse({
    kind,
    group,
    version,
    name: metadata.name,
    replicas: spec.replicas,
    schedule: spec.schedule,
    containers: template?.spec.containers,
    initContainers: template?.spec.initContainers,
  })
}
