/** `name`, `name:tag`, `name@digest`, `old=new:tag`: what a `kustomize.images` entry makes of an image. */
export function applyKustomizeImages(image: string, entries: readonly string[]): string {
  for (const entry of entries) {
    const [left = '', right] = entry.includes('=') ? entry.split('=', 2) : [entry]
    const replacement = splitReference(right ?? left)
    const wanted = splitReference(left)
    const current = splitReference(image)
    if (current.name !== wanted.name) continue
    return `${replacement.name}${replacement.suffix === '' ? current.suffix : replacement.suffix}`
  }
  return image
}

/** A colon before the last slash belongs to the registry's port. */
function splitReference(reference: string): { name: string; suffix: string } {
  const at = reference.indexOf('@')
  if (at >= 0) return { name: reference.slice(0, at).replace(/:[^/:]*$/, ''), suffix: reference.slice(at) }
  const colon = reference.lastIndexOf(':')
  if (colon <= reference.lastIndexOf('/')) return { name: reference, suffix: '' }
  return { name: reference.slice(0, colon), suffix: reference.slice(colon) }
}
