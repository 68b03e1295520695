/**
 * Whether a text is the name of an image and nothing more. Kustomize would read what stands behind `=`, `@` or the colon
 * of a tag as something else, and a leading `-` as an option.
 */
export function isImageName(text: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9_./:-]*$/.test(text) && tagColon(text) < 0 && text.length <= 255
}

/** What Kustomize reads as a tag, the whole of it. */
export function isTag(text: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(text)
}

/** The entry of `kustomize.images` that gives the image which a kustomization calls `name` another name and tag. */
export function kustomizeImage(name: string, image: string, tag: string): string {
  return name === image ? `${image}:${tag}` : `${name}=${image}:${tag}`
}

/** The name by which an entry of `kustomize.images` finds its image. */
export function nameOfKustomizeImage(entry: string): string {
  const at = entry.indexOf('=')
  return at < 0 ? splitReference(entry).name : entry.slice(0, at)
}

/** The tag that an entry gives to an image; undefined: none, a digest, or it puts another image in its place. */
export function tagOfKustomizeImage(entry: string, image: string): string | undefined {
  const at = entry.indexOf('=')
  const { name, tag } = splitReference(entry.slice(at + 1))
  return at < 0 || name === image ? tag : undefined
}

/** The tag of a reference to an image; undefined: none, a digest, or it is another image. */
export function tagOfReference(reference: string, image: string): string | undefined {
  const { name, tag } = splitReference(reference)
  return name === image ? tag : undefined
}

function splitReference(reference: string): { name: string; tag: string | undefined } {
  const digest = reference.indexOf('@')
  const tagged = digest < 0 ? reference : reference.slice(0, digest)
  const colon = tagColon(tagged)
  if (colon < 0) return { name: tagged, tag: undefined }
  return { name: tagged.slice(0, colon), tag: digest < 0 ? tagged.slice(colon + 1) : undefined }
}

/** A colon before the last slash belongs to the port of a registry. */
function tagColon(reference: string): number {
  const colon = reference.lastIndexOf(':')
  return colon > reference.lastIndexOf('/') ? colon : -1
}
