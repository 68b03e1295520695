import { quote } from '../../../contract/fields.ts'
import type { FileKind } from '../edit/editors.ts'
import { nameOfKustomizeImage } from '../edit/kustomize-image.ts'
import { type ApplicationSource, typeOf, type WriteBackApplication } from './application-source.ts'
import type { ApplicationAnnotations } from './parse-annotations.ts'
import { checkFileName, inDirectory } from './repository-path.ts'
import { type RejectedWriteBack, refused } from './write-back-outcome.ts'
import type { WriteBackSettings } from './write-back-settings.ts'
import type { PlannedFile, WriteTarget } from './write-target.ts'

/** Overrides for every application of a directory. */
export const sharedFile = '.argocd-source.yaml'

/** The override file of an application: a list in it replaces that of the source. */
export function overrideTarget(
  { directory, reader }: WriteTarget,
  tool: FileKind,
  application: WriteBackApplication,
  annotations: ApplicationAnnotations,
  settings: WriteBackSettings,
): PlannedFile | RejectedWriteBack {
  const type = reader && typeOf(reader, application)
  if (type !== undefined && type !== (tool === 'helm' ? 'Helm' : 'Kustomize')) return otherType(directory, type, tool)
  const name = annotations.writeBackFilename ?? overrideFileNames(application, settings)[0]
  const checked = checkFileName(name)
  if (checked.kind === 'invalid') {
    return refused('annotation_invalid', `write-back-filename: the file name ${quote(name)} ${checked.reason}`)
  }
  const path = inDirectory(directory, checked.path)
  return {
    kind: 'file',
    path,
    sourceEntries: reader ? sourceEntries(reader, tool) : [],
    beside: [inDirectory(directory, sharedFile)],
    warnings: [
      ...(reader ? [] : [`no source of the application reads the directory ${quote(directory)}`]),
      ...namesakeWarnings(application, annotations, path),
    ],
  }
}

/** With a section of another tool in its override file the delivery controller could not render it any more. */
function otherType(directory: string, type: string, tool: FileKind): RejectedWriteBack {
  const [needed, entries] =
    tool === 'helm' ? ['a Helm chart', 'Helm parameters'] : ['a kustomization', 'Kustomize images']
  const source = `the source in the directory ${quote(directory || '.')} is of type ${type}, not ${needed}`
  return refused('annotation_invalid', `managed-images: ${source}, and ${entries} would break the application`)
}

function sourceEntries({ helmParameters, kustomizeImages }: ApplicationSource, tool: FileKind) {
  if (tool === 'helm') return helmParameters
  return kustomizeImages.map((value) => ({ name: nameOfKustomizeImage(value), value, forceString: false }))
}

/** The name of the file is in lower case (spec 2.6, rule 2), which two applications of one directory may share then. */
function namesakeWarnings(
  { name }: WriteBackApplication,
  { writeBackFilename }: ApplicationAnnotations,
  file: string,
): readonly string[] {
  const namesake = name.toLowerCase()
  if (writeBackFilename !== undefined || namesake === name) return []
  return [`${file} is also the file of the application ${quote(namesake)}: set write-back-filename for one of them`]
}

/** Ours, and the one that Argo CD reads. */
export function overrideFileNames(
  { name, namespace }: WriteBackApplication,
  settings: WriteBackSettings,
): readonly [string, string] {
  const isAtHome = namespace === settings.controlPlaneNamespace || namespace === ''
  const instance = (isAtHome ? name : `${namespace}_${name}`).toLowerCase()
  return [`.${settings.overrideFilePrefix}-source-${instance}.yaml`, `.argocd-source-${instance}.yaml`]
}
