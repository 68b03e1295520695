import type { FileChanges } from './memory-git.ts'

export type ExampleWorkload = Record<string, unknown> & { kind?: string; image?: string }

/**
 * The files of a small chart: values with an image tag, and the workloads that use it.
 *
 * `${image.tag}` in a workload is replaced by the value of that name.
 */
export function chartFiles(
  folder: string,
  {
    tag = '1.0.0',
    workloads = [
      { kind: 'Deployment', image: `registry.example/${folder.split('/').at(-1)}:\${image.tag}`, replicas: 2 },
    ] as readonly ExampleWorkload[],
  } = {},
): FileChanges {
  const prefix = folder === '' ? '' : `${folder}/`
  return {
    [`${prefix}Chart.yaml`]: `apiVersion: v2\nname: ${folder.split('/').at(-1) || 'chart'}\nversion: 0.1.0\n`,
    [`${prefix}values.yaml`]: `image:\n  tag: "${tag}"\n`,
    [`${prefix}workloads.yaml`]: `workloads: ${JSON.stringify(workloads, undefined, 2)}\n`,
  }
}

/** The files of a small kustomization, whose Deployment has an image that the kustomization calls `name`. */
export function kustomizationFiles(folder: string, name: string, tag: string): FileChanges {
  const image = `registry.example/${folder.split('/').at(-1)}`
  return {
    [`${folder}/kustomization.yaml`]: `images:\n  - name: ${name}\n    newName: ${image}\n    newTag: ${tag}\n`,
    [`${folder}/workloads.yaml`]: `workloads: [{kind: Deployment, image: "${name}", replicas: 2}]\n`,
  }
}

/** An override file that sets one Helm parameter. */
export function overrideFile(tag: string, parameter = 'image.tag'): string {
  return `helm:\n  parameters:\n    - name: ${parameter}\n      value: "${tag}"\n      forceString: true\n`
}
