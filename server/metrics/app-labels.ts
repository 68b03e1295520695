/** Application names that may become metric labels: so many, then `other`, because each is kept for ever. */
export function createAppLabels(most: number): (app: string) => string {
  const known = new Set<string>()
  return (app) => {
    if (known.size < most) known.add(app)
    return known.has(app) ? app : 'other'
  }
}
